import { unresolvable, unschedulable } from "../../../framework/refusal.ts";
import { allTermsMatch, count, DomainCounts, matchingAll, termMatches } from "./terms.ts";
import type { NodeFilter } from "../../../framework/plugin.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";
import type { NamespaceLister } from "./terms.ts";

/** The filter by required affinity and anti-affinity, of the pod and of those that run already; undefined when there is none. */
export function affinityFilter(pod: PodInfo, snapshot: Snapshot): NodeFilter | undefined {
  const { namespaces } = snapshot.objects;
  const against = new Map<string, number>();
  for (const { labels, pods } of snapshot.antiAffinityNodes)
    for (const other of pods)
      for (const term of other.requiredAntiAffinity) if (termMatches(term, pod, namespaces)) count(against, term.topologyKey, labels[term.topologyKey], 1);
  const wanted = new Map<string, number>();
  const avoided = new Map<string, number>();
  if (pod.requiredAffinity.length + pod.requiredAntiAffinity.length + against.size === 0) return undefined;
  for (const [name, pods] of matchingAll(pod.requiredAffinity, snapshot)) {
    const { labels } = snapshot.node(name)!;
    for (const { topologyKey } of pod.requiredAffinity) count(wanted, topologyKey, labels[topologyKey], pods);
  }
  for (const term of pod.requiredAntiAffinity)
    for (const [name, pods] of matchingAll([term], snapshot)) count(avoided, term.topologyKey, snapshot.node(name)!.labels[term.topologyKey], pods);
  return filterOf({ pod, namespaces, wanted: DomainCounts.of(wanted), avoided: DomainCounts.of(avoided), against: DomainCounts.of(against) });
}

interface Counted {
  readonly pod: PodInfo;
  readonly namespaces: NamespaceLister;
  /** Pods that match all terms of the pod's affinity, by domain. */
  readonly wanted: DomainCounts;
  /** Pods that the pod must not meet. */
  readonly avoided: DomainCounts;
  /** Pods that must not meet the pod. */
  readonly against: DomainCounts;
}

function filterOf(counted: Counted): NodeFilter {
  const { pod, namespaces, wanted, avoided, against } = counted;
  // The first of a group that wants to be together may start anywhere.
  const isFirst = wanted.isEmpty && allTermsMatch(pod.requiredAffinity, pod, namespaces);
  return {
    refuse({ labels }) {
      for (const { topologyKey } of pod.requiredAffinity) {
        const domain = labels[topologyKey];
        if (domain === undefined || (!isFirst && wanted.of(topologyKey, domain) === 0)) return notWithWanted;
      }
      if (!avoided.isEmpty)
        for (const { topologyKey } of pod.requiredAntiAffinity) {
          const domain = labels[topologyKey];
          if (domain !== undefined && avoided.of(topologyKey, domain) > 0) return withAvoided;
        }
      if (!against.isEmpty) for (const key in labels) if (against.of(key, labels[key]!) > 0) return notWelcome;
      return undefined;
    },
    withPod: (other, node) => filterOf(changed(counted, other, node, 1)),
    withoutPod: (other, node) => filterOf(changed(counted, other, node, -1)),
  };
}

const notWithWanted = unresolvable("node(s) didn't match pod affinity rules");
const withAvoided = unschedulable("node(s) didn't match pod anti-affinity rules");
const notWelcome = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");

function changed(counted: Counted, other: PodInfo, { labels }: NodeInfo, by: number): Counted {
  const { pod, namespaces } = counted;
  let { wanted, avoided, against } = counted;
  const add = (counts: DomainCounts, key: string) => (key in labels ? counts.with(key, labels[key]!, by) : counts);
  for (const term of other.requiredAntiAffinity) if (termMatches(term, pod, namespaces)) against = add(against, term.topologyKey);
  if (allTermsMatch(pod.requiredAffinity, other, namespaces)) for (const { topologyKey } of pod.requiredAffinity) wanted = add(wanted, topologyKey);
  for (const term of pod.requiredAntiAffinity) if (termMatches(term, other, namespaces)) avoided = add(avoided, term.topologyKey);
  return { ...counted, wanted, avoided, against };
}
