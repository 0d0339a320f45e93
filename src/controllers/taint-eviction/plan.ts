import { formatTime } from "../../apimachinery/time.ts";
import { resources } from "../../client/index.ts";
import { deleteAction, eventAction, nothingToDo, patchAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { conditionPatch } from "../pods/condition-patch.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, Taint, Toleration } from "../../api/core-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/**
 * Pods leave nodes with NoExecute taints that they do not tolerate: at once, or when the shortest `tolerationSeconds` of the tolerations
 * they need has passed since `sinceMs` (documentation page "Taints and Tolerations").
 */
export function planEviction({ pod, taints, sinceMs }: EvictionSnapshot, nowMs: number): Plan {
  const stayMs = toleratedMs(pod.spec?.tolerations ?? [], taints);
  if (stayMs === Number.POSITIVE_INFINITY || pod.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const leftMs = sinceMs + stayMs - nowMs;
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs, reasons: [`tolerates its node's taints for ${stayMs} ms`] };
  return { actions: evict(pod, nowMs), reasons: ["does not tolerate its node's taints"] };
}

export interface EvictionSnapshot {
  readonly pod: DeepReadonly<Pod>;
  /** Those of its node with effect NoExecute. */
  readonly taints: readonly DeepReadonly<Taint>[];
  /** When the pod came to be on a node with these taints. */
  readonly sinceMs: number;
}

/** How long a pod with these tolerations may stay: 0 where one taint is not tolerated, infinite where all are for ever. */
export function toleratedMs(tolerations: readonly DeepReadonly<Toleration>[], taints: readonly DeepReadonly<Taint>[]): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const toleration = tolerations.find((candidate) => tolerates(candidate, taint));
    if (toleration === undefined) return 0;
    if (toleration.tolerationSeconds !== undefined) shortest = Math.min(shortest, Math.max(0, toleration.tolerationSeconds) * 1000);
  }
  return shortest;
}

export function tolerates({ key, operator = "Equal", value = "", effect }: DeepReadonly<Toleration>, taint: DeepReadonly<Taint>): boolean {
  if (effect !== undefined && effect !== "" && effect !== taint.effect) return false;
  if (key !== undefined && key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (operator === "Equal" && value === (taint.value ?? ""));
}

function evict(pod: DeepReadonly<Pod>, nowMs: number): Action[] {
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  const condition = {
    type: "DisruptionTarget",
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    status: "True",
    reason: "DeletionByTaintManager",
    message: "Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: formatTime(nowMs),
  };
  const isMarked = pod.status?.conditions?.some(({ type, status }) => type === condition.type && status === "True") === true;
  const mark = patchAction(resources.pods, pod, conditionPatch(pod, condition), { subresource: "status", onError: whenGone });
  const told = eventAction(
    { kind: "Pod", apiVersion: "v1", namespace, name, uid },
    { type: "Normal", reason: "TaintManagerEviction", message: `Marking for deletion Pod ${namespace}/${name}` },
  );
  return [told, ...(isMarked ? [] : [mark]), deleteAction(resources.pods, pod, {}, { onError: whenGone })];
}
