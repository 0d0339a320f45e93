import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ReplicaSetCondition } from "../../api/apps-v1/types.ts";

/** The conditions with `ReplicaFailure` as it is now: told of at its first failure, kept while it lasts, dropped once all goes well. */
export function withFailure(
  conditions: readonly DeepReadonly<ReplicaSetCondition>[],
  failure: { readonly reason: string; readonly message: string } | undefined,
  nowMs: number,
): ReplicaSetCondition[] {
  const isKnown = conditions.some(({ type }) => type === "ReplicaFailure");
  if (failure === undefined) return conditions.filter(({ type }) => type !== "ReplicaFailure");
  if (isKnown) return [...conditions];
  return [...conditions, { type: "ReplicaFailure", status: "True", lastTransitionTime: formatTime(nowMs), ...failure }];
}
