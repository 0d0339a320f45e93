/** The public SDK for writing operators; the built-in controllers are written on it. */
export { carryOut } from "./carry-out.ts";
export type { PlanDriver, PlanOutcome } from "./carry-out.ts";
export { defineController } from "./controller.ts";
export type { Controller, ControllerContext, ControllerServices, PlannedController, ReconcileRecord, ReconcilingController } from "./controller.ts";
export { confirmAction, createAction, deleteAction, eventAction, nothingToDo, patchAction, updateAction, updateStatusAction } from "./plan.ts";
export type {
  Action,
  ActionResult,
  ConfirmAction,
  CreateAction,
  DeleteAction,
  ErrorDecision,
  ErrorRule,
  EventAction,
  GroupAction,
  NamedObject,
  Outcome,
  PatchAction,
  Plan,
  Severity,
  TypedRules,
  UpdateAction,
  WriteAction,
} from "./plan.ts";
export { byControllerUid, controllerKey, namespaceKey, ownKey, watch } from "./watch.ts";
export type { Caches, Watch } from "./watch.ts";
