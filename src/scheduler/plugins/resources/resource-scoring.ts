import { piecewise } from "./piecewise.ts";
import { resourceAmount } from "../../state/resources.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ShapePoint } from "./piecewise.ts";

/** How full a node would be, as a score of 0 to 100 (Kubernetes documentation, "Resource Bin Packing"). */
export function resourceScorer({ type, resources, requestedToCapacityRatio }: ScoringStrategy): (pod: PodInfo, node: NodeInfo) => number {
  const scoreOne = scorers[type](requestedToCapacityRatio?.shape ?? []);
  return (pod, node) => {
    let sum = 0;
    let weights = 0;
    for (const { name, weight } of resources) {
      const total = resourceAmount(node.allocatable, name);
      if (total === 0 || (!isAlwaysCounted(name) && resourceAmount(pod.requests, name) === 0)) continue;
      sum += scoreOne(usedWith(pod, node, name), total) * weight;
      weights += weight;
    }
    if (weights === 0) return 0;
    return type === "RequestedToCapacityRatio" ? Math.round(sum / weights) : Math.trunc(sum / weights);
  };
}

/** How full nodes are together, as a score of 0 to 100; whatever the strategy, the fuller the better (KEP-5732). */
export function usedShare(nodes: readonly NodeInfo[], { resources }: ScoringStrategy): number {
  let sum = 0;
  let weights = 0;
  for (const { name, weight } of resources) {
    const total = nodes.reduce((all, { allocatable }) => all + resourceAmount(allocatable, name), 0);
    if (total === 0) continue;
    const used = nodes.reduce((all, { requested }) => all + resourceAmount(requested, name), 0);
    sum += scorers.MostAllocated()(used, total) * weight;
    weights += weight;
  }
  return weights === 0 ? 0 : Math.trunc(sum / weights);
}

export interface ScoringStrategy {
  readonly type: "LeastAllocated" | "MostAllocated" | "RequestedToCapacityRatio";
  readonly resources: readonly { readonly name: string; readonly weight: number }[];
  readonly requestedToCapacityRatio?: { readonly shape: readonly ShapePoint[] };
}

const scorers = {
  LeastAllocated: () => (used: number, total: number) => (used > total ? 0 : Math.trunc(((total - used) * 100) / total)),
  MostAllocated: () => (used: number, total: number) => Math.trunc((Math.min(used, total) * 100) / total),
  RequestedToCapacityRatio: (shape: readonly ShapePoint[]) => {
    const scoreAt = piecewise(shape);
    return (used: number, total: number) => (used > total ? scoreAt(100) : scoreAt(Math.trunc((used * 100) / total)));
  },
};

const isAlwaysCounted = (name: string) => name === "cpu" || name === "memory" || name === "ephemeral-storage";

/** CPU and memory count with their defaults for containers that ask for none. */
function usedWith(pod: PodInfo, node: NodeInfo, name: string): number {
  if (name === "cpu") return node.scoredMilliCpu + pod.scored.milliCpu;
  if (name === "memory") return node.scoredMemoryBytes + pod.scored.memoryBytes;
  return resourceAmount(node.requested, name) + resourceAmount(pod.requests, name);
}
