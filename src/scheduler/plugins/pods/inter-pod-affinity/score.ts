import { matchingAll, termMatches } from "./terms.ts";
import type { NodeScorer } from "../../../framework/plugin.ts";
import type { TermKind } from "../../../state/affinity-terms.ts";
import type { DomainCounts, DomainPods } from "../../../state/domain-pods.ts";
import type { AffinityTerm, PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";

/** The scorer by preferred affinity, of the pod and of those that run already; undefined when nothing matches. */
export function affinityScorer(pod: PodInfo, snapshot: Snapshot, weights: AffinityWeights): NodeScorer | undefined {
  const { namespaces } = snapshot.objects;
  const parts: Part[] = [];
  const add = (pods: DomainPods, { topologyKey }: AffinityTerm, weight: number) => {
    const counts = pods.byDomain(topologyKey, (name) => snapshot.node(name));
    if (weight !== 0 && counts.size > 0) parts.push({ topologyKey, counts, weight });
  };
  const ofOthers = (kind: TermKind, weightOf: (weight: number) => number) => {
    for (const { term, weight, pods } of snapshot.affinityTerms(kind)) if (termMatches(term, pod, namespaces)) add(pods, term, weightOf(weight));
  };
  for (const term of pod.preferredAffinity) add(matchingAll([term], snapshot), term, term.weight);
  for (const term of pod.preferredAntiAffinity) add(matchingAll([term], snapshot), term, -term.weight);
  ofOthers("requiredAffinity", () => weights.hardPodAffinityWeight);
  if (!weights.ignorePreferredTermsOfExistingPods) {
    ofOthers("preferredAffinity", (weight) => weight);
    ofOthers("preferredAntiAffinity", (weight) => -weight);
  }
  return parts.length === 0 ? undefined : scorerOf(parts);
}

/** What each matching pod in a node's domain adds to its score. */
interface Part {
  readonly topologyKey: string;
  readonly counts: DomainCounts;
  readonly weight: number;
}

export interface AffinityWeights {
  /** What required affinity of a running pod to this one counts. */
  readonly hardPodAffinityWeight: number;
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

function scorerOf(parts: readonly Part[]): NodeScorer {
  return {
    score({ labels }) {
      let sum = 0;
      for (const { topologyKey, counts, weight } of parts) {
        const domain = labels[topologyKey];
        if (domain !== undefined) sum += weight * (counts.get(domain) ?? 0);
      }
      return sum;
    },
    normalize(values) {
      let lowest = Number.POSITIVE_INFINITY;
      let highest = Number.NEGATIVE_INFINITY;
      for (const value of values) {
        lowest = Math.min(lowest, value);
        highest = Math.max(highest, value);
      }
      const range = highest - lowest;
      for (let index = 0; index < values.length; index++) values[index] = range === 0 ? 0 : Math.trunc((100 * (values[index]! - lowest)) / range);
    },
  };
}
