import { matchesLabels } from "../../../../apimachinery/selectors/label-selector.ts";
import { unresolvable, unschedulable } from "../../../framework/refusal.ts";
import { countsAll, hasAllKeys, isCounted, isMatching, matchingPods } from "./constraint.ts";
import { nodesWithKeys } from "./domains.ts";
import type { NodeFilter } from "../../../framework/plugin.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";
import type { Constraint } from "./constraint.ts";

/** Refuses nodes in whose domain the pod would make the spread more uneven than its constraints allow. */
export function spreadFilter(pod: PodInfo, constraints: readonly Constraint[], snapshot: Snapshot): NodeFilter {
  const nodes = nodesWithKeys(constraints, snapshot);
  const nodeOf = (name: string) => snapshot.node(name);
  const counts = constraints.map((constraint) => {
    const { topologyKey } = constraint;
    const matching = matchingPods(constraint, pod.namespace, snapshot);
    const domains = nodes.domains.get(topologyKey)!;
    const isOpen = countsAll(constraint, pod);
    if (isOpen && nodes.areAll) {
      const known = matching.byDomain(topologyKey, nodeOf);
      return new Map(domains.map((domain) => [domain, known.get(domain) ?? 0]));
    }
    const isEligible = (node: NodeInfo) => hasAllKeys(constraints, node) && (isOpen || isCounted(constraint, pod, node));
    const byDomain = new Map<string, number>();
    if (isOpen) for (const domain of domains) byDomain.set(domain, 0);
    else for (const node of snapshot.nodes) if (isEligible(node)) byDomain.set(node.labels[topologyKey]!, 0);
    for (const [name, count] of matching.byNode) {
      const node = snapshot.node(name)!;
      if (!isEligible(node)) continue;
      const domain = node.labels[topologyKey]!;
      byDomain.set(domain, byDomain.get(domain)! + count);
    }
    return byDomain;
  });
  return filterOf(pod, constraints, counts);
}

type Counts = readonly ReadonlyMap<string, number>[];

function filterOf(pod: PodInfo, constraints: readonly Constraint[], counts: Counts): NodeFilter {
  const own = constraints.map(({ selector }) => (matchesLabels(selector, pod.labels) ? 1 : 0));
  const fewest = constraints.map(({ minDomains }, index) => (counts[index]!.size < minDomains ? 0 : lowest(counts[index]!)));
  const changed = (other: PodInfo, node: NodeInfo, by: number) => filterOf(pod, constraints, changedCounts({ pod, constraints, counts, other, node, by }));
  return {
    refuse({ labels }) {
      for (const [index, { topologyKey, maxSkew }] of constraints.entries()) {
        const domain = labels[topologyKey];
        if (domain === undefined) return missingLabel;
        if ((counts[index]!.get(domain) ?? 0) + own[index]! - fewest[index]! > maxSkew) return tooUneven;
      }
      return undefined;
    },
    withPod: (other, node) => changed(other, node, 1),
    withoutPod: (other, node) => changed(other, node, -1),
  };
}

const missingLabel = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)");
const tooUneven = unschedulable("node(s) didn't match pod topology spread constraints");

function lowest(counts: ReadonlyMap<string, number>): number {
  let least = Number.MAX_SAFE_INTEGER;
  for (const count of counts.values()) if (count < least) least = count;
  return least;
}

function changedCounts(change: { pod: PodInfo; constraints: readonly Constraint[]; counts: Counts; other: PodInfo; node: NodeInfo; by: number }): Counts {
  const { pod, constraints, counts, other, node, by } = change;
  if (!hasAllKeys(constraints, node)) return counts;
  return constraints.map((constraint, index) => {
    const before = counts[index]!;
    if (!isMatching(other, pod.namespace, constraint.selector) || !isCounted(constraint, pod, node)) return before;
    const domain = node.labels[constraint.topologyKey]!;
    return new Map(before).set(domain, (before.get(domain) ?? 0) + by);
  });
}
