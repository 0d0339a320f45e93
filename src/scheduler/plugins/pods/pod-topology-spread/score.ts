import { countsAll, hasAllKeys, hostnameKey, isCounted, matchingPods } from "./constraint.ts";
import { nodesWithKeys } from "./domains.ts";
import type { NodeScorer } from "../../../framework/plugin.ts";
import type { DomainPods } from "../../../state/domain-pods.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";
import type { Constraint } from "./constraint.ts";

/**
 * Nodes in domains with few matching pods are better. A domain's count weighs more the more domains there are. `requiresAllKeys`: nodes that
 * lack one of the topology keys get nothing; with the system's default constraints a missing key only leaves its part out.
 */
export function spreadScorer(
  pod: PodInfo,
  constraints: readonly Constraint[],
  scope: { feasible: readonly NodeInfo[]; snapshot: Snapshot; requiresAllKeys: boolean },
): NodeScorer {
  const isIgnored = (node: NodeInfo) => scope.requiresAllKeys && !hasAllKeys(constraints, node);
  const eligible = scope.feasible.filter((node) => !isIgnored(node));
  const matching = constraints.map((constraint) => matchingPods(constraint, pod.namespace, scope.snapshot));
  const isWhole = !scope.requiresAllKeys || nodesWithKeys(constraints, scope.snapshot).areAll;
  const domains = constraints.map((constraint, index) =>
    domainCounts(constraint, {
      eligible,
      matching: matching[index]!,
      snapshot: scope.snapshot,
      isCounted: isWhole && countsAll(constraint, pod) ? undefined : (node) => !isIgnored(node) && isCounted(constraint, pod, node),
    }),
  );
  const weights = constraints.map(({ topologyKey }, index) => Math.log((topologyKey === hostnameKey ? eligible.length : domains[index]!.size) + 2));
  return {
    score(node) {
      if (isIgnored(node)) return 0;
      let sum = 0;
      for (const [index, { topologyKey, maxSkew }] of constraints.entries()) {
        const domain = node.labels[topologyKey];
        if (domain === undefined) continue;
        const count = (topologyKey === hostnameKey ? matching[index]!.byNode.get(node.name) : domains[index]!.get(domain)) ?? 0;
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
function domainCounts({ topologyKey }: Constraint, scope: CountScope): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (topologyKey === hostnameKey) return counts;
  for (const { labels } of scope.eligible) if (topologyKey in labels) counts.set(labels[topologyKey]!, 0);
  if (counts.size === 0) return counts;
  if (scope.isCounted === undefined) {
    const known = scope.matching.byDomain(topologyKey, (name) => scope.snapshot.node(name));
    for (const domain of counts.keys()) counts.set(domain, known.get(domain) ?? 0);
    return counts;
  }
  for (const [name, matching] of scope.matching.byNode) {
    const node = scope.snapshot.node(name)!;
    const domain = node.labels[topologyKey];
    const count = domain === undefined ? undefined : counts.get(domain);
    if (count !== undefined && scope.isCounted(node)) counts.set(domain!, count + matching);
  }
  return counts;
}

interface CountScope {
  readonly eligible: readonly NodeInfo[];
  readonly matching: DomainPods;
  readonly snapshot: Snapshot;
  /** Which nodes count; undefined when all do. */
  readonly isCounted: ((node: NodeInfo) => boolean) | undefined;
}
