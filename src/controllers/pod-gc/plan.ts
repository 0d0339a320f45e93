import { formatTime } from "../../apimachinery/time.ts";
import { resources } from "../../client/index.ts";
import { deleteAction, nothingToDo, patchAction } from "../../operator/index.ts";
import { hasTaint, readyStatus } from "../nodes/node-conditions.ts";
import { conditionPatch } from "../pods/condition-patch.ts";
import { isFinished } from "../pods/pod-state.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod, PodCondition } from "../../api/core-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/**
 * Pods that nobody else will ever remove (documentation page "Pod Lifecycle", "Garbage collection of Pods"): those of a node that is gone
 * for longer than the quarantine, those that terminate without ever having been on a node, and those that terminate on a node that is out of service.
 */
export function planPodCollection({ pod, node, nodeGoneSinceMs, quarantineMs }: PodSnapshot, nowMs: number): Plan {
  const nodeName = pod.spec?.nodeName ?? "";
  const isLeaving = pod.metadata.deletionTimestamp !== undefined;
  if (nodeName === "") return isLeaving ? { actions: [removal(pod)], reasons: ["it terminates and was never on a node"] } : nothingToDo;
  if (node === undefined) {
    const leftMs = (nodeGoneSinceMs ?? nowMs) + quarantineMs - nowMs;
    if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs };
    return { actions: [...failure(pod, orphanCondition(pod, nowMs)), removal(pod)], reasons: [`its node ${nodeName} is gone`] };
  }
  const isOutOfService = readyStatus(node) !== "True" && hasTaint(node, "node.kubernetes.io/out-of-service");
  if (isLeaving && isOutOfService && isHeld(pod)) return { actions: [...failure(pod), removal(pod)], reasons: [`its node ${nodeName} is out of service`] };
  return nothingToDo;
}

export interface PodSnapshot {
  readonly pod: DeepReadonly<Pod>;
  /** The pod's node; undefined when there is none of that name. */
  readonly node: DeepReadonly<Node> | undefined;
  readonly nodeGoneSinceMs: number | undefined;
  readonly quarantineMs: number;
}

/** Of finished pods beyond the threshold those that go: the longest finished first. */
export function surplusFinished(pods: readonly DeepReadonly<Pod>[], threshold: number): readonly DeepReadonly<Pod>[] {
  const finished = pods.filter((pod) => isFinished(pod));
  if (threshold <= 0 || finished.length <= threshold) return [];
  const age = ({ metadata }: DeepReadonly<Pod>) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return finished.sort((left, right) => (age(left) < age(right) ? -1 : 1)).slice(0, finished.length - threshold);
}

/** Deletes a pod at once. */
export function removal(pod: DeepReadonly<Pod>): Action {
  return deleteAction(resources.pods, pod, { gracePeriodSeconds: 0 }, { onError: whenGone });
}

/** Whether a forced deletion still has something to do. */
function isHeld({ metadata, status }: DeepReadonly<Pod>): boolean {
  return metadata.deletionGracePeriodSeconds !== 0 || (status?.phase !== "Failed" && status?.phase !== "Succeeded");
}

function orphanCondition(pod: DeepReadonly<Pod>, nowMs: number): PodCondition {
  const { generation } = pod.metadata;
  return {
    type: "DisruptionTarget",
    ...(generation !== undefined && { observedGeneration: generation }),
    status: "True",
    reason: "DeletionByPodGC",
    message: "PodGC: node no longer exists",
    lastTransitionTime: formatTime(nowMs),
  };
}

/** A pod that will never end by itself has failed: what counts on it must hear of it. */
function failure(pod: DeepReadonly<Pod>, condition?: PodCondition): Action[] {
  if (isFinished(pod)) return [];
  const plain = { type: "strategic", body: { metadata: { uid: pod.metadata.uid }, status: { phase: "Failed" } } } as const;
  const patch = condition === undefined ? plain : conditionPatch(pod, condition, { phase: "Failed" });
  return [patchAction(resources.pods, pod, patch, { subresource: "status", onError: whenGone })];
}
