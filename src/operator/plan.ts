import type { DeepReadonly } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { DeleteOptions, EventText, ObjectReference, Patch, ResourceType } from "../client/index.ts";

/**
 * What a controller decided: data, with its reasons. A plan is made by a pure function of a snapshot and the time; the harness carries
 * it out. Actions are made by the functions below, which check that an object fits its resource.
 */
export interface Plan {
  /** Carried out one after the other. A failed action ends the plan unless its `onError` says otherwise. */
  readonly actions: readonly Action[];
  /** Look again after this time, in ms, even if nothing changes. */
  readonly requeueAfterMs?: number;
  /** Why: sentences for people, kept with the record of what was done. */
  readonly reasons?: readonly string[];
  /** What to do then, knowing how the actions went; not asked when an action ended the plan. */
  readonly next?: (outcome: Outcome) => Plan;
}

/** The plan of a controller that is content. */
export const nothingToDo: Plan = { actions: [] };

/** One step of a plan. */
export type Action = WriteAction | EventAction | ConfirmAction | EffectAction | GroupAction;
/** An action that changes objects of the API. */
export type WriteAction = CreateAction | UpdateAction | PatchAction | DeleteAction;

interface WriteRules {
  /** Further actions once it went well; `object` is the server's answer (undefined where a deletion was answered with a Status). */
  readonly onDone?: ((object: DeepReadonly<KubeObject> | undefined) => readonly Action[]) | undefined;
  /** What a refusal means. Default `stop`. */
  readonly onError?: ErrorRule | undefined;
}
/** Made by `createAction`. */
export interface CreateAction extends WriteRules {
  readonly kind: "create";
  readonly resource: ResourceType;
  readonly object: DeepReadonly<KubeObject>;
}
/** Made by `updateAction` and `updateStatusAction`. */
export interface UpdateAction extends WriteRules {
  readonly kind: "update";
  readonly resource: ResourceType;
  readonly object: DeepReadonly<KubeObject>;
  /** `status`, `scale`, `finalize`, `approval`. */
  readonly subresource?: string | undefined;
}
/** Made by `patchAction`. */
export interface PatchAction extends WriteRules {
  readonly kind: "patch";
  readonly resource: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly patch: Patch & { readonly fieldManager?: string };
  readonly subresource?: string | undefined;
}
/** Made by `deleteAction`. */
export interface DeleteAction extends WriteRules {
  readonly kind: "delete";
  readonly resource: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
}
/** Made by `eventAction`. */
export interface EventAction {
  readonly kind: "event";
  readonly regarding: ObjectReference;
  readonly event: EventText;
}
/** Reads the object itself, past the caches, and ends the plan quietly unless it has this uid and is not being deleted. */
export interface ConfirmAction {
  readonly kind: "confirm";
  readonly resource: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
/** Something outside the API: a call to what the operator manages. Must be safe to repeat. */
export interface EffectAction {
  readonly kind: "effect";
  /** What it does, for records: `promote orders-1`. */
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
  /** What a rejection means. Default `stop`. */
  readonly onError?: ErrorRule | undefined;
}
/**
 * - parallel: all at once
 * - slowStart: one, then two, four …, as long as all of a batch succeed; the rest is skipped (so that a quota refuses once, not 500 times)
 */
export interface GroupAction {
  readonly kind: "group";
  readonly mode: "parallel" | "slowStart";
  readonly actions: readonly Action[];
}

/**
 * - stop: the rest of the plan is left out, and the key is tried again with growing pauses
 * - continue: the rest is carried out, and the key is tried again with growing pauses
 * - ignore: as if it had gone well
 * - leave: the rest of its group is left out, since it would be refused, too; otherwise as if it had gone well
 */
export type ErrorRule = Severity | ((error: Error) => ErrorDecision);
/** What a failed action means for the rest of its plan; see `ErrorRule`. */
export type Severity = "stop" | "continue" | "ignore" | "leave";
/** Whether a plan with such an action has failed. */
export function countsAsFailure(severity: Severity): boolean {
  return severity === "stop" || severity === "continue";
}

/** What an `ErrorRule` that looks at the error answers. */
export interface ErrorDecision {
  readonly severity: Severity;
  /** Carried out first, such as an event that tells of the failure. */
  readonly actions?: readonly Action[];
}

/** How the actions of a plan went, in the order they ended; those in groups and those of `onDone` and `onError` included. */
export interface Outcome {
  readonly results: readonly ActionResult[];
  /** The first failure that was not ignored. */
  readonly failure: Error | undefined;
  /** Whether an action ended the plan. */
  readonly isStopped: boolean;
}
/** How one action went; skipped when an earlier one ended the plan. `object` is the server's answer to a write. */
export type ActionResult =
  | { readonly action: Action; readonly status: "done"; readonly object?: DeepReadonly<KubeObject> | undefined }
  | { readonly action: Action; readonly status: "failed"; readonly error: Error; readonly severity: Severity }
  | { readonly action: Action; readonly status: "skipped" };

/** A POST of the object into its own namespace. */
export function createAction<T extends KubeObject>(resource: ResourceType<T>, object: DeepReadonly<NoInfer<T>>, rules: TypedRules<T> = {}): CreateAction {
  return { kind: "create", resource, object: object as DeepReadonly<KubeObject>, ...(rules as WriteRules) };
}

/** A PUT of the whole object, or of its `subresource`. Refused with a conflict when the object has changed since its resourceVersion. */
export function updateAction<T extends KubeObject>(
  resource: ResourceType<T>,
  object: DeepReadonly<NoInfer<T>>,
  rules: TypedRules<T> & { readonly subresource?: string } = {},
): UpdateAction {
  return { kind: "update", resource, object: object as DeepReadonly<KubeObject>, ...(rules as WriteRules & { subresource?: string }) };
}

/** A PUT of the status. */
export function updateStatusAction<T extends KubeObject>(resource: ResourceType<T>, object: DeepReadonly<NoInfer<T>>, rules: TypedRules<T> = {}): UpdateAction {
  return updateAction(resource, object, { ...rules, subresource: "status" });
}

/** A PATCH of the object named, or of its `subresource`. */
export function patchAction<T extends KubeObject>(
  resource: ResourceType<T>,
  object: NamedObject,
  patch: PatchAction["patch"],
  rules: TypedRules<T> & { readonly subresource?: string } = {},
): PatchAction {
  return { kind: "patch", resource, ...nameOf(object), patch, ...(rules as WriteRules & { subresource?: string }) };
}

/** Deletes just the object given (its uid is a precondition), unless `options` says otherwise. */
export function deleteAction<T extends KubeObject>(
  resource: ResourceType<T>,
  object: NamedObject,
  options: DeleteOptions = {},
  rules: TypedRules<T> = {},
): DeleteAction {
  const { uid } = object.metadata;
  return {
    kind: "delete",
    resource,
    ...nameOf(object),
    options: { ...(uid !== undefined && { preconditions: { uid } }), ...options },
    ...(rules as WriteRules),
  };
}

/** An Event about an object; it never fails the plan. */
export function eventAction(regarding: ObjectReference, event: EventText): EventAction {
  return { kind: "event", regarding, event };
}

/** Ends the plan quietly unless the object is still there with the uid given, asked of the server and not of a cache. */
export function confirmAction(resource: ResourceType, object: NamedObject): ConfirmAction {
  return { kind: "confirm", resource, ...nameOf(object), uid: object.metadata.uid ?? "" };
}

/** A call to the outside. `name` says what it does, for records; `run` rejects to fail and must be safe to repeat. */
export function effectAction(name: string, run: (signal: AbortSignal) => Promise<void>, rules: Pick<EffectAction, "onError"> = {}): EffectAction {
  return { kind: "effect", name, run, ...rules };
}

/** What follows a write: further actions when it went well, and what a refusal means (default `stop`). */
export interface TypedRules<T extends KubeObject> {
  readonly onDone?: (object: DeepReadonly<T>) => readonly Action[];
  readonly onError?: ErrorRule;
}
/** As much of an object as tells which one it is. Without a namespace it is cluster-scoped. */
export interface NamedObject {
  readonly metadata: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
}

function nameOf({ metadata }: NamedObject): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}
