import { resourceAmount } from "../../state/resources.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodInfo } from "../../state/pod-info.ts";

/** Nodes on which the pod evens out the shares of its resources in use are better. */
export function nodeResourcesBalancedAllocation({ resources }: BalancedAllocationArgs): Plugin {
  const names = resources.map(({ name }) => name);
  return {
    name: "NodeResourcesBalancedAllocation",
    preScore({ pod }) {
      if (names.every((name) => resourceAmount(pod.requests, name) === 0)) return "skip";
      return { isLocal: true, score: (node) => 75 + halfOf(evenness(node, names, pod) - evenness(node, names, undefined)) };
    },
  };
}

export interface BalancedAllocationArgs {
  readonly resources: readonly { readonly name: string; readonly weight: number }[];
}

const halfOf = (difference: number) => Math.trunc(difference / 2);

/** 100 when all resources are in use to the same share, less the more the shares spread (their standard deviation). */
function evenness(node: NodeInfo, names: readonly string[], pod: PodInfo | undefined): number {
  const shares: number[] = [];
  for (const name of names) {
    const total = resourceAmount(node.allocatable, name);
    if (total === 0) continue;
    const used = resourceAmount(node.requested, name) + (pod === undefined ? 0 : resourceAmount(pod.requests, name));
    shares.push(Math.min(1, used / total));
  }
  return shares.length < 2 ? 100 : Math.trunc((1 - deviation(shares)) * 100);
}

/** Of two numbers half their difference, which is exact where squares and roots are not. */
function deviation(shares: readonly number[]): number {
  if (shares.length === 2) return Math.abs((shares[0]! - shares[1]!) / 2);
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length);
}
