import { matchingAll, termMatches } from "./terms.ts";
import type { NodeScorer } from "../../../framework/plugin.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { AffinityTerm, PodInfo, WeightedAffinityTerm } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";

/** The scorer by preferred affinity, of the pod and of those that run already; undefined when nothing matches. */
export function affinityScorer(pod: PodInfo, snapshot: Snapshot, weights: AffinityWeights): NodeScorer | undefined {
  const { namespaces } = snapshot.objects;
  const scores = new Map<string, Map<string, number>>();
  const add = ({ topologyKey }: AffinityTerm, { labels }: NodeInfo, by: number) => {
    const value = labels[topologyKey];
    if (value === undefined || by === 0) return;
    let values = scores.get(topologyKey);
    if (values === undefined) scores.set(topologyKey, (values = new Map()));
    values.set(value, (values.get(value) ?? 0) + by);
  };
  const ofOthers = (other: PodInfo, node: NodeInfo) => {
    for (const term of other.requiredAffinity) if (termMatches(term, pod, namespaces)) add(term, node, weights.hardPodAffinityWeight);
    if (weights.ignorePreferredTermsOfExistingPods) return;
    for (const term of other.preferredAffinity) if (termMatches(term, pod, namespaces)) add(term, node, term.weight);
    for (const term of other.preferredAntiAffinity) if (termMatches(term, pod, namespaces)) add(term, node, -term.weight);
  };
  const own = (term: WeightedAffinityTerm, weight: number) => {
    for (const [name, pods] of matchingAll([term], snapshot)) add(term, snapshot.node(name)!, weight * pods);
  };
  for (const term of pod.preferredAffinity) own(term, term.weight);
  for (const term of pod.preferredAntiAffinity) own(term, -term.weight);
  for (const node of snapshot.affinityNodes) for (const other of node.pods) if (other.hasAffinity) ofOthers(other, node);
  return scores.size === 0 ? undefined : scorerOf(scores);
}

export interface AffinityWeights {
  /** What required affinity of a running pod to this one counts. */
  readonly hardPodAffinityWeight: number;
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

function scorerOf(scores: ReadonlyMap<string, ReadonlyMap<string, number>>): NodeScorer {
  return {
    score({ labels }) {
      let sum = 0;
      for (const [key, values] of scores) sum += values.get(labels[key] ?? "") ?? 0;
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
