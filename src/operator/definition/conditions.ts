/** Conditions of a status (API conventions, "Typical status properties"): what a plan says, merged with what stood there. Pure. */
import type { Condition } from "../../api/meta-v1/types.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { formatTime } from "../../apimachinery/time.ts";

/** A condition as a plan declares it. */
export interface ConditionClaim {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One word in CamelCase. */
  readonly reason: string;
  /** A sentence for people. Default: none. */
  readonly message?: string;
}

/** `condition("Ready", true, "AllReplicasReady")`; undefined stands for `Unknown`. */
export function condition(type: string, isTrue: boolean | undefined, reason: string, message = ""): ConditionClaim {
  return { type, status: isTrue === undefined ? "Unknown" : isTrue ? "True" : "False", reason, message };
}

/** Whether a condition is there and `True`. */
export function isConditionTrue(object: { readonly status?: { readonly conditions?: readonly DeepReadonly<Condition>[] } | undefined }, type: string): boolean {
  return object.status?.conditions?.find((known) => known.type === type)?.status === "True";
}

/** The claims as conditions: the time moves only when the status does. Conditions that are no longer claimed go. */
export function mergeConditions(
  before: readonly DeepReadonly<Condition>[],
  claims: readonly ConditionClaim[],
  at: { readonly generation: number | undefined; readonly nowMs: number },
): Condition[] {
  return claims.map(({ type, status, reason, message = "" }) => {
    const known = before.find((other) => other.type === type);
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : formatTime(at.nowMs);
    return { type, status, ...(at.generation !== undefined && { observedGeneration: at.generation }), lastTransitionTime, reason, message };
  });
}
