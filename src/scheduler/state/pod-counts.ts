import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

/** Decides whether a pod belongs to a group; must depend on nothing but the pod. */
export type PodPredicate = (pod: PodInfo) => boolean;

/**
 * How many pods of a group are on each node, kept up to date as pods come and go instead of being counted for every decision. Driven by the
 * cluster state. Invariant: a group's counts are those that counting anew would give; nodes without any are left out.
 */
export class PodCounts {
  readonly #groups = new Map<string, { isMember: PodPredicate; counts: Map<string, number> }>();

  /** The counts of the group that `key` names, by node name. */
  of(key: string, isMember: PodPredicate, nodes: readonly NodeInfo[]): ReadonlyMap<string, number> {
    const known = this.#groups.get(key);
    if (known !== undefined) return known.counts;
    if (this.#groups.size >= groupLimit) this.#groups.delete(this.#groups.keys().next().value!);
    const counts = countPods(isMember, nodes);
    this.#groups.set(key, { isMember, counts });
    return counts;
  }

  change(pod: PodInfo, nodeName: string, by: 1 | -1): void {
    for (const { isMember, counts } of this.#groups.values()) {
      if (!isMember(pod)) continue;
      const count = (counts.get(nodeName) ?? 0) + by;
      if (count === 0) counts.delete(nodeName);
      else counts.set(nodeName, count);
    }
  }
}

const groupLimit = 64;

/** Counts a group anew. */
export function countPods(isMember: PodPredicate, nodes: Iterable<NodeInfo>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, pods } of nodes) {
    let count = 0;
    for (const pod of pods) if (isMember(pod)) count += 1;
    if (count > 0) counts.set(name, count);
  }
  return counts;
}
