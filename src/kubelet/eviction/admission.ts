/** Whether a node under pressure takes one more pod. Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { tolerates } from "../node/tolerations.ts";
import type { Rejection } from "../pod-sync/node-context.ts";
import { evictedReason, pressureMessage } from "./messages.ts";
import { isCriticalPod } from "./ranking.ts";
import type { PressureCondition } from "./thresholds.ts";

/** Undefined: taken. Short of memory only, it refuses pods that ask for none. */
export function refusedUnderPressure(pod: DeepReadonly<Pod>, conditions: readonly PressureCondition[]): Rejection | undefined {
  if (conditions.length === 0 || isCriticalPod(pod)) return undefined;
  if (conditions.length === 1 && conditions[0] === "MemoryPressure") {
    if (pod.status?.qosClass !== "BestEffort") return undefined;
    const taint = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" };
    if ((pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint))) return undefined;
  }
  return { reason: evictedReason, message: pressureMessage(conditions) };
}
