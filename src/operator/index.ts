/** The public SDK for writing operators; the built-in controllers are written on it. */
export { carryOut } from "./carry-out.ts";
export type { PlanDriver, PlanOutcome } from "./carry-out.ts";
export { defineController } from "./controller.ts";
export type { Controller, ControllerContext, ControllerServices, PlannedController, ReconcileRecord, ReconcilingController } from "./controller.ts";
export {
  confirmAction,
  countsAsFailure,
  createAction,
  deleteAction,
  effectAction,
  eventAction,
  nothingToDo,
  patchAction,
  updateAction,
  updateStatusAction,
} from "./plan.ts";
export type {
  Action,
  ActionResult,
  ConfirmAction,
  CreateAction,
  DeleteAction,
  EffectAction,
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
export { condition, isConditionTrue, mergeConditions } from "./definition/conditions.ts";
export type { ConditionClaim } from "./definition/conditions.ts";
export { defineResource } from "./definition/define-resource.ts";
export type {
  Column,
  CommonStatus,
  CustomObject,
  ObjectOf,
  ResourceDefinition,
  ResourceDefinitionOptions,
  ServedVersion,
  VersionContent,
} from "./definition/define-resource.ts";
export { schema, Schema } from "./definition/schema.ts";
export type { Infer, Presence } from "./definition/schema.ts";
export { ChildConflictError } from "./reconciler/apply-difference.ts";
export { child } from "./reconciler/desired.ts";
export type { Child, Desired, Finalization, PlanInput } from "./reconciler/desired.ts";
export { allOf, annotationsChanged, anyOf, generationChanged, labelsChanged, whenChanged } from "./reconciler/predicates.ts";
export type { Predicate } from "./reconciler/predicates.ts";
export { defineReconciler } from "./reconciler/reconciler.ts";
export type { ObserveInput, Reconciler, ReconcilerOptions } from "./reconciler/reconciler.ts";
export { viewOf } from "./reconciler/view.ts";
export type { View } from "./reconciler/view.ts";
export { defineOperator } from "./running/define-operator.ts";
export type { Operator, OperatorDefinition, OperatorOptions } from "./running/define-operator.ts";
export type { ManifestOptions } from "./running/manifests.ts";
export { connect } from "./running/connect.ts";
export type { Connection, ConnectOptions } from "./running/connect.ts";
export { runOperator, untilSignalled } from "./running/run-operator.ts";
export type { RunOptions } from "./running/run-operator.ts";
export type { OperatorHost, ServeWebhooks } from "./running/run-in.ts";
export { convertObject } from "./webhooks/review.ts";
export type { ReviewAnswer } from "./webhooks/review.ts";
export { mutating, validating } from "./webhooks/webhook.ts";
export type { AdmissionInput, Operation, Verdict, Webhook } from "./webhooks/webhook.ts";
