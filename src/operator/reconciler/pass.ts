/** One pass of a reconciler over an object, as a plan of actions. Pure but for the memory of what was applied. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Condition } from "../../api/meta-v1/types.ts";
import { keyOf, referenceTo } from "../../client/index.ts";
import type { EventText, ResourceType } from "../../client/index.ts";
import { mergeConditions } from "../definition/conditions.ts";
import { eventAction, patchAction } from "../plan.ts";
import type { Action, Plan } from "../plan.ts";
import { applyChildren } from "./apply-difference.ts";
import type { AppliedMemory } from "./apply-difference.ts";
import type { Desired, Finalization, PlanInput } from "./desired.ts";
import type { ReconcilerOptions } from "./reconciler.ts";
import type { View } from "./view.ts";

export interface Pass<T extends KubeObject, Observed> {
  readonly options: ReconcilerOptions<T, Observed>;
  readonly resource: ResourceType;
  readonly view: View;
  readonly input: PlanInput<T, Observed>;
}
export interface PassContext {
  readonly operatorName: string;
  readonly applied: AppliedMemory;
  /** Those of the declared events that are to be recorded. */
  readonly isNewEvent: (events: readonly EventText[]) => readonly EventText[];
}

/** The finalizer that an operator keeps on objects: `OPERATOR.GROUP-OF-THE-RESOURCE/cleanup`. */
export function finalizerOf(operatorName: string, { group }: Pick<ResourceType, "group">): string {
  return `${group === "" ? operatorName : `${operatorName}.${group}`}/cleanup`;
}

/** What is to be done for an object; undefined when it is going away and nothing of ours is left to do. */
export function changesOf<T extends KubeObject, Observed>(pass: Pass<T, Observed>, context: PassContext): Plan | undefined {
  const { options, resource, input } = pass;
  const object = input.object as DeepReadonly<KubeObject>;
  const finalizer = finalizerOf(context.operatorName, resource);
  const finalizers = object.metadata.finalizers ?? [];
  const isGuarded = finalizers.includes(finalizer);
  if (object.metadata.deletionTimestamp !== undefined) {
    if (!isGuarded) return undefined;
    const last: Finalization<T> = options.finalize?.(input) ?? { isDone: true };
    const plan = planOf(pass, last, context);
    if (!last.isDone) return plan;
    return {
      ...plan,
      actions: [
        ...plan.actions,
        finalizersPatch(
          pass.resource,
          object,
          finalizers.filter((other) => other !== finalizer),
        ),
      ],
    };
  }
  const plan = planOf(pass, options.plan(input), context);
  if (options.finalize === undefined || isGuarded) return plan;
  // First of all: what is made must be cleaned up whatever happens next.
  return { ...plan, actions: [finalizersPatch(resource, object, [...finalizers, finalizer]), ...plan.actions] };
}

function planOf<T extends KubeObject, Observed>(pass: Pass<T, Observed>, desired: Desired<T>, context: PassContext): Plan {
  const { options, resource, view, input } = pass;
  const object = input.object as DeepReadonly<KubeObject>;
  const { children, events = [], actions = [], requeueAfterMs, reasons } = desired;
  const reference = referenceTo(resource, object);
  return {
    actions: [
      ...(children === undefined
        ? []
        : applyChildren(children, options.owns ?? [], { owner: { resource, object }, fieldManager: context.operatorName, view }, context.applied)),
      ...actions,
      ...statusActions(pass, desired, context),
      ...context.isNewEvent(events).map((event) => eventAction(reference, event)),
    ],
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
    ...(reasons !== undefined && { reasons }),
  };
}

function statusActions<T extends KubeObject, Observed>(
  { options, resource, input }: Pass<T, Observed>,
  { status, conditions }: Desired<T>,
  { operatorName, applied }: PassContext,
): Action[] {
  if (status === undefined && conditions === undefined) return [];
  const object = input.object as DeepReadonly<KubeObject> & { readonly status?: { readonly conditions?: readonly DeepReadonly<Condition>[] } };
  const { namespace, name, uid, generation } = object.metadata;
  const whole = {
    ...status,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(conditions !== undefined && { conditions: mergeConditions(object.status?.conditions ?? [], conditions, { generation, nowMs: input.nowMs }) }),
  };
  const body = {
    apiVersion: apiVersionOf(resource.group, resource.version),
    kind: resource.kind,
    metadata: { name: name ?? "", ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) },
    status: whole,
  };
  return applied.apply(keyOf(object), { resource, object: body }, object, {
    fieldManager: operatorName,
    subresource: "status",
    isGuarded: options.keepsRecord === true,
  });
}

/** Refused when somebody changed the object meanwhile: their finalizers must not be lost. */
function finalizersPatch(resource: ResourceType, object: DeepReadonly<KubeObject>, finalizers: readonly string[]): Action {
  const { resourceVersion } = object.metadata;
  return patchAction(resource, object, { type: "merge", body: { metadata: { ...(resourceVersion !== undefined && { resourceVersion }), finalizers } } });
}
