/** Topology manager: on which NUMA nodes a container's CPUs, memory and devices are to be together (documentation page "Control Topology Management Policies on a node"). Pure. */

/** A way to satisfy a container from these NUMA nodes; preferred when fewer could never do. */
export interface Hint {
  readonly nodes: readonly number[];
  readonly isPreferred: boolean;
}

export type TopologyPolicy = "none" | "best-effort" | "restricted" | "single-numa-node";

/** What one kind of resource can offer. Undefined: it does not care. */
export type Hints = readonly Hint[] | undefined;

/** All ways to get `count` out of what NUMA nodes have in all, and have free. */
export function hintsFor(count: number, nodes: readonly { readonly id: number; readonly total: number; readonly free: number }[]): Hint[] {
  const sum = (ids: readonly number[], member: "total" | "free") => nodes.filter(({ id }) => ids.includes(id)).reduce((total, node) => total + node[member], 0);
  const masks = subsets(nodes.map(({ id }) => id));
  const least = Math.min(...masks.filter((mask) => sum(mask, "total") >= count).map(({ length }) => length));
  return masks.filter((mask) => sum(mask, "free") >= count).map((mask) => ({ nodes: mask, isPreferred: mask.length === least }));
}

export interface TopologyVerdict {
  readonly isAdmitted: boolean;
  /** Absent: anywhere. */
  readonly near?: readonly number[];
}

/** Merges one hint of each resource in every way, and picks the best of what they have in common. */
export function judgeTopology(policy: TopologyPolicy, offers: readonly Hints[], nodes: readonly number[]): TopologyVerdict {
  if (policy === "none") return { isAdmitted: true };
  const caring = offers
    .filter((hints) => hints !== undefined)
    .map((hints) => (policy === "single-numa-node" ? hints.filter(({ nodes: own, isPreferred }) => own.length === 1 && isPreferred) : hints));
  if (caring.length === 0) return { isAdmitted: true };
  let merged: Hint[] = [{ nodes, isPreferred: true }];
  for (const hints of caring) {
    merged = merged.flatMap((left) =>
      hints.flatMap((right) => {
        const common = left.nodes.filter((node) => right.nodes.includes(node));
        return common.length === 0 ? [] : [{ nodes: common, isPreferred: left.isPreferred && right.isPreferred }];
      }),
    );
  }
  const [best] = merged.toSorted((a, b) => Number(b.isPreferred) - Number(a.isPreferred) || a.nodes.length - b.nodes.length || a.nodes[0]! - b.nodes[0]!);
  const isAdmitted = policy === "best-effort" || best?.isPreferred === true;
  return { isAdmitted, ...(best !== undefined && { near: best.nodes }) };
}

/** Every set but the empty one; machines have at most eight nodes here. */
function subsets(ids: readonly number[]): number[][] {
  const known = ids.slice(0, 8);
  return Array.from({ length: 2 ** known.length - 1 }, (_, index) => known.filter((_id, bit) => ((index + 1) >> bit) & 1));
}
