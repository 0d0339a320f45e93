import { parseTime } from "../../apimachinery/time.ts";
import { highestRestartCount, isReady, podCondition } from "./pod-state.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";

/**
 * Pods in the order in which a set that is too large gives them up (documentation page "ReplicaSet", "Scaling a ReplicaSet"): the first
 * are the least loss. `neighbours` tells how many pods of the same workload run on a node.
 */
export function inDeletionOrder(pods: readonly DeepReadonly<Pod>[], neighbours: ReadonlyMap<string, number>, nowMs: number): DeepReadonly<Pod>[] {
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, neighbours, nowMs) }));
  ranked.sort((left, right) => compareRanks(left.rank, right.rank));
  return ranked.map(({ pod }) => pod);
}

/** How many of `pods` run on each node. */
export function podsPerNode(pods: readonly DeepReadonly<Pod>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { spec } of pods) if (spec?.nodeName !== undefined) counts.set(spec.nodeName, (counts.get(spec.nodeName) ?? 0) + 1);
  return counts;
}

/** Smaller numbers go first, member by member; the uid decides what is left. */
interface Rank {
  readonly numbers: readonly number[];
  readonly uid: string;
}

const phaseRanks: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

function rankOf(pod: DeepReadonly<Pod>, neighbours: ReadonlyMap<string, number>, nowMs: number): Rank {
  const nodeName = pod.spec?.nodeName ?? "";
  const ready = isReady(pod);
  const readySince = podCondition(pod, "Ready")?.lastTransitionTime;
  return {
    numbers: [
      nodeName === "" ? 0 : 1,
      phaseRanks[pod.status?.phase ?? ""] ?? 0,
      ready ? 1 : 0,
      deletionCost(pod),
      -(neighbours.get(nodeName) ?? 0),
      ready ? logarithmicAge(readySince ?? undefined, nowMs) : 0,
      -highestRestartCount(pod),
      logarithmicAge(pod.metadata.creationTimestamp ?? undefined, nowMs),
    ],
    uid: pod.metadata.uid ?? "",
  };
}

function compareRanks(left: Rank, right: Rank): number {
  for (const [index, number] of left.numbers.entries()) if (number !== right.numbers[index]) return number - right.numbers[index]!;
  return left.uid < right.uid ? -1 : left.uid > right.uid ? 1 : 0;
}

/** Pods of about the same age count as equally old, so that it is not always the youngest that go (KEP-2185). */
function logarithmicAge(since: string | undefined, nowMs: number): number {
  if (since === undefined) return -1;
  const ageNanos = (nowMs - parseTime(since)) * 1e6;
  return ageNanos <= 0 ? -1 : Math.floor(Math.log2(ageNanos));
}

/** Annotation `controller.kubernetes.io/pod-deletion-cost`: a 32-bit integer, 0 when it is not one. */
function deletionCost({ metadata }: DeepReadonly<Pod>): number {
  const text = metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? "0";
  const cost = Number(text);
  return /^(0|-?[1-9]\d*)$/.test(text) && cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}
