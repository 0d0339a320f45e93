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

/** 100 when all resources are in use to the same share, less the more the shares spread. */
function evenness(node: NodeInfo, names: readonly string[], pod: PodInfo | undefined): number {
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (const name of names) {
    const total = resourceAmount(node.allocatable, name);
    if (total === 0) continue;
    const used = resourceAmount(node.requested, name) + (pod === undefined ? 0 : resourceAmount(pod.requests, name));
    const share = Math.min(1, used / total);
    count += 1;
    sum += share;
    squares += share * share;
  }
  if (count < 2) return 100;
  const mean = sum / count;
  return Math.trunc((1 - Math.sqrt(Math.max(0, squares / count - mean * mean))) * 100);
}
