import { parseTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodCondition } from "../../api/core-v1/types.ts";

/** What the API's documentation calls the states of a pod ("Pod Lifecycle"), as predicates over its status. */
export function isReady(pod: DeepReadonly<Pod>): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/** Ready for at least `minReadySeconds`. */
export function isAvailable(pod: DeepReadonly<Pod>, minReadySeconds: number, nowMs: number): boolean {
  return availableInMs(pod, minReadySeconds, nowMs) === 0;
}

/** How long until a ready pod counts as available, if it stays ready; 0 when it does, undefined when it is not ready. */
export function availableInMs(pod: DeepReadonly<Pod>, minReadySeconds: number, nowMs: number): number | undefined {
  const condition = podCondition(pod, "Ready");
  if (condition?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  const sinceMs = condition.lastTransitionTime === undefined || condition.lastTransitionTime === null ? nowMs : parseTime(condition.lastTransitionTime);
  return Math.max(0, sinceMs + minReadySeconds * 1000 - nowMs);
}

/** Neither finished nor being deleted. */
export function isActive(pod: DeepReadonly<Pod>): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** Succeeded or Failed: it will never run again. */
export function isFinished(pod: DeepReadonly<Pod>): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** Being deleted while it may still run. */
export function isTerminating(pod: DeepReadonly<Pod>): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function podCondition(pod: DeepReadonly<Pod>, type: string): DeepReadonly<PodCondition> | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

/** All restarts of its containers. */
export function highestRestartCount(pod: DeepReadonly<Pod>): number {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return statuses.reduce((highest, { restartCount = 0 }) => Math.max(highest, restartCount), 0);
}
