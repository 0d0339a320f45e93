import type { NodeInfo } from "./node-info.ts";

/** By the value of a topology key: how many pods are in that domain. Domains without any are left out. */
export type DomainCounts = ReadonlyMap<string, number>;

/**
 * How many pods of a group are on each node, and in each domain of the topology keys that somebody asked for: kept up to date as pods come
 * and go instead of being counted for every decision. Invariant: the counts are those that counting anew would give.
 */
export class DomainPods {
  readonly #byNode = new Map<string, number>();
  readonly #byDomain = new Map<string, Map<string, number>>();

  get byNode(): ReadonlyMap<string, number> {
    return this.#byNode;
  }

  /** `nodeOf` finds the nodes that have pods of the group. */
  byDomain(topologyKey: string, nodeOf: (name: string) => NodeInfo | undefined): DomainCounts {
    let counts = this.#byDomain.get(topologyKey);
    if (counts === undefined) {
      this.#byDomain.set(topologyKey, (counts = new Map()));
      for (const [name, pods] of this.#byNode) add(counts, nodeOf(name)?.labels[topologyKey], pods);
    }
    return counts;
  }

  change({ name, labels }: NodeInfo, by: number): void {
    add(this.#byNode, name, by);
    for (const [topologyKey, counts] of this.#byDomain) add(counts, labels[topologyKey], by);
  }

  relabel(): void {
    this.#byDomain.clear();
  }
}

function add(counts: Map<string, number>, key: string | undefined, by: number): void {
  if (key === undefined) return;
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
