import { unresolvable, unschedulable } from "../../../framework/refusal.ts";
import { allTermsMatch, matchingAll, PodsInDomains, termMatches } from "./terms.ts";
import type { NodeFilter } from "../../../framework/plugin.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { AffinityTerm, PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";
import type { Domains, NamespaceLister } from "./terms.ts";

/** The filter by required affinity and anti-affinity, of the pod and of those that run already; undefined when there is none. */
export function affinityFilter(pod: PodInfo, snapshot: Snapshot): NodeFilter | undefined {
  const { namespaces } = snapshot.objects;
  const nodeOf = (name: string) => snapshot.node(name);
  const against: Domains[] = [];
  for (const { term, pods } of snapshot.affinityTerms("requiredAntiAffinity"))
    if (termMatches(term, pod, namespaces)) against.push({ topologyKey: term.topologyKey, counts: pods.byDomain(term.topologyKey, nodeOf) });
  const { requiredAffinity, requiredAntiAffinity } = pod;
  if (requiredAffinity.length + requiredAntiAffinity.length + against.length === 0) return undefined;
  const domainsOf = (terms: readonly AffinityTerm[], topologyKey: string) => ({
    topologyKey,
    counts: matchingAll(terms, snapshot).byDomain(topologyKey, nodeOf),
  });
  const keys = new Set(requiredAffinity.map(({ topologyKey }) => topologyKey));
  const wanted = Array.from(keys, (topologyKey) => domainsOf(requiredAffinity, topologyKey));
  const avoided = requiredAntiAffinity.map((term) => domainsOf([term], term.topologyKey));
  return filterOf({ pod, namespaces, wanted: PodsInDomains.of(wanted), avoided: PodsInDomains.of(avoided), against: PodsInDomains.of(against) });
}

interface Counted {
  readonly pod: PodInfo;
  readonly namespaces: NamespaceLister;
  /** Pods that match all terms of the pod's affinity, by domain. */
  readonly wanted: PodsInDomains;
  /** Pods that the pod must not meet. */
  readonly avoided: PodsInDomains;
  /** Pods that must not meet the pod. */
  readonly against: PodsInDomains;
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
      if (avoided.meets(labels)) return withAvoided;
      return against.meets(labels) ? notWelcome : undefined;
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
  const add = (counts: PodsInDomains, key: string) => (key in labels ? counts.with(key, labels[key]!, by) : counts);
  for (const term of other.requiredAntiAffinity) if (termMatches(term, pod, namespaces)) against = add(against, term.topologyKey);
  if (allTermsMatch(pod.requiredAffinity, other, namespaces))
    for (const topologyKey of new Set(pod.requiredAffinity.map((term) => term.topologyKey))) wanted = add(wanted, topologyKey);
  for (const term of pod.requiredAntiAffinity) if (termMatches(term, other, namespaces)) avoided = add(avoided, term.topologyKey);
  return { ...counted, wanted, avoided, against };
}
