/** What a plan declares: the state that should be. The SDK finds the difference to what is. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { EventText, ResourceType } from "../../client/index.ts";
import type { ConditionClaim } from "../definition/conditions.ts";
import type { Action } from "../plan.ts";
import type { View } from "./view.ts";

/** Everything that a plan may depend on. */
export interface PlanInput<T extends KubeObject, Observed = undefined> extends View {
  readonly object: DeepReadonly<T>;
  /** What the reconciler's `observe` found. */
  readonly observed: Observed;
  readonly nowMs: number;
}

/** What a reconciler's plan answers: what should be. The SDK applies the difference. */
export interface Desired<T extends KubeObject> {
  /**
   * The children that should exist, made by `child`; applied in this order. Children of owned kinds that are not listed are deleted.
   * Absent: children are left as they are.
   */
  readonly children?: readonly Child[];
  /** The status without `conditions` and `observedGeneration`, whole: what is left out goes. Absent: left as it is, unless there are conditions. */
  readonly status?: StatusOf<T>;
  readonly conditions?: readonly ConditionClaim[];
  /** Recorded when the plan before this one did not have them. */
  readonly events?: readonly EventText[];
  /** Whatever else is to be done, after the children were applied: calls to the outside (`effectAction`), writes of other objects. */
  readonly actions?: readonly Action[];
  /** Look again after so many ms, even if nothing changes. */
  readonly requeueAfterMs?: number;
  /** Why: sentences for people, kept with the record of what was done. */
  readonly reasons?: readonly string[];
}

/** Of an object that is being deleted. */
export interface Finalization<T extends KubeObject> extends Desired<T> {
  /** Nothing is left to clean up: once the actions went well, the object may go. */
  readonly isDone: boolean;
}

type StatusOf<T> = T extends { status?: infer S } ? DeepReadonly<Omit<NonNullable<S>, "conditions" | "observedGeneration">> : Readonly<Record<string, unknown>>;

/** A child as it should be. */
export interface Child {
  readonly resource: ResourceType;
  readonly object: DeepReadonly<KubeObject>;
}

/**
 * A child, with its type checked. Only what is given is enforced: fields that others set (a Deployment's replicas under an autoscaler) are
 * theirs if they are left out. Namespace, kind and owner reference are the SDK's.
 */
export function child<C extends KubeObject>(resource: ResourceType<C>, object: DeepReadonly<NoInfer<C>>): Child {
  const { group, version, kind } = resource;
  return { resource: resource as unknown as ResourceType, object: { ...(object as DeepReadonly<KubeObject>), apiVersion: apiVersionOf(group, version), kind } };
}
