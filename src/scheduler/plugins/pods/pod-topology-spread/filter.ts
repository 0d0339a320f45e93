import { matchesLabels } from "../../../../apimachinery/selectors/label-selector.ts";
import { unresolvable, unschedulable } from "../../../framework/refusal.ts";
import { countsAll, hasAllKeys, isCounted, isMatching, matchingPods } from "./constraint.ts";
import type { NodeFilter } from "../../../framework/plugin.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";
import type { Constraint } from "./constraint.ts";

/** Refuses nodes in whose domain the pod would make the spread more uneven than its constraints allow. */
export function spreadFilter(pod: PodInfo, constraints: readonly Constraint[], snapshot: Snapshot): NodeFilter {
  const counts = constraints.map((constraint) => {
    const isOpen = countsAll(constraint, pod);
    const byDomain = new Map<string, number>();
    if (isOpen) for (const domain of domainsOf(constraint.topologyKey, constraints, snapshot)) byDomain.set(domain, 0);
    else for (const node of snapshot.nodes) if (isEligible(node, constraint)) byDomain.set(node.labels[constraint.topologyKey]!, 0);
    for (const [name, count] of matchingPods(constraint, pod.namespace, snapshot)) {
      const node = snapshot.node(name)!;
      if (isOpen ? !hasAllKeys(constraints, node) : !isEligible(node, constraint)) continue;
      const domain = node.labels[constraint.topologyKey]!;
      byDomain.set(domain, byDomain.get(domain)! + count);
    }
    return byDomain;
  });
  function isEligible(node: NodeInfo, constraint: Constraint): boolean {
    return hasAllKeys(constraints, node) && isCounted(constraint, pod, node);
  }
  return filterOf(pod, constraints, counts);
}

/** The domains of the last nodes that were looked at, by topology keys: they change only with the nodes. */
const knownDomains = new WeakMap<Snapshot, { version: number; byKeys: Map<string, readonly string[]> }>();

function domainsOf(topologyKey: string, constraints: readonly Constraint[], snapshot: Snapshot): readonly string[] {
  let known = knownDomains.get(snapshot);
  if (known?.version !== snapshot.nodesVersion) knownDomains.set(snapshot, (known = { version: snapshot.nodesVersion, byKeys: new Map() }));
  const keys = [topologyKey, ...constraints.map((one) => one.topologyKey)].join("\u0000");
  let domains = known.byKeys.get(keys);
  if (domains === undefined) {
    domains = [...new Set(snapshot.nodes.filter((node) => hasAllKeys(constraints, node)).map(({ labels }) => labels[topologyKey]!))];
    known.byKeys.set(keys, domains);
  }
  return domains;
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
