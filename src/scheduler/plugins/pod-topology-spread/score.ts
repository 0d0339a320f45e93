import { countMatching, hasAllKeys, hostnameKey, isCounted } from "./constraint.ts";
import type { NodeScorer } from "../../framework/plugin.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { Constraint } from "./constraint.ts";

/**
 * Nodes in domains with few matching pods are better. A domain's count weighs more the more domains there are. `requiresAllKeys`: nodes that
 * lack one of the topology keys get nothing; with the system's default constraints a missing key only leaves its part out.
 */
export function spreadScorer(
  pod: PodInfo,
  constraints: readonly Constraint[],
  scope: { feasible: readonly NodeInfo[]; all: readonly NodeInfo[]; requiresAllKeys: boolean },
): NodeScorer {
  const isIgnored = (node: NodeInfo) => scope.requiresAllKeys && !hasAllKeys(constraints, node);
  const eligible = scope.feasible.filter((node) => !isIgnored(node));
  const domains = constraints.map((constraint) => domainCounts(pod, constraint, { eligible, all: scope.all.filter((node) => !isIgnored(node)) }));
  const weights = constraints.map(({ topologyKey }, index) => Math.log((topologyKey === hostnameKey ? eligible.length : domains[index]!.size) + 2));
  return {
    score(node) {
      if (isIgnored(node)) return 0;
      let sum = 0;
      for (const [index, { topologyKey, selector, maxSkew }] of constraints.entries()) {
        const domain = node.labels[topologyKey];
        if (domain === undefined) continue;
        const count = topologyKey === hostnameKey ? countMatching(node, pod.namespace, selector) : (domains[index]!.get(domain) ?? 0);
        sum += count * weights[index]! + (maxSkew - 1);
      }
      return Math.round(sum);
    },
    normalize(scores, nodes) {
      let lowest = Number.MAX_SAFE_INTEGER;
      let highest = 0;
      for (const [index, score] of scores.entries()) {
        if (isIgnored(nodes[index]!)) continue;
        lowest = Math.min(lowest, score);
        highest = Math.max(highest, score);
      }
      for (const [index, score] of scores.entries()) {
        if (isIgnored(nodes[index]!)) scores[index] = 0;
        else scores[index] = highest === 0 ? 100 : Math.trunc((100 * (highest + lowest - score)) / highest);
      }
    },
  };
}

/** Matching pods by domain, of the domains that come into question. Host names are counted node by node when they are scored. */
function domainCounts(pod: PodInfo, constraint: Constraint, nodes: { eligible: readonly NodeInfo[]; all: readonly NodeInfo[] }): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const { topologyKey, selector } = constraint;
  if (topologyKey === hostnameKey) return counts;
  for (const { labels } of nodes.eligible) if (topologyKey in labels) counts.set(labels[topologyKey]!, 0);
  if (counts.size === 0) return counts;
  for (const node of nodes.all) {
    const domain = node.labels[topologyKey];
    const count = domain === undefined ? undefined : counts.get(domain);
    if (count === undefined || !isCounted(constraint, pod, node)) continue;
    counts.set(domain!, count + countMatching(node, pod.namespace, selector));
  }
  return counts;
}
