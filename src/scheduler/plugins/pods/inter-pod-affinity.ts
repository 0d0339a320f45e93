import { podInfoOf } from "../../state/pod-info.ts";
import { affinityFilter } from "./inter-pod-affinity/filter.ts";
import { affinityScorer } from "./inter-pod-affinity/score.ts";
import { allTermsMatch, termMatches } from "./inter-pod-affinity/terms.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { AffinityWeights } from "./inter-pod-affinity/score.ts";
import type { NamespaceLister } from "./inter-pod-affinity/terms.ts";

/** Keeps pods together or apart, by their labels and a topology key of the nodes. */
export function interPodAffinity(args: AffinityWeights): Plugin {
  return {
    name: "InterPodAffinity",
    events: [
      { resource: "AssignedPod", actions: ["Add", "Delete", "UpdatePodLabel"], helps: helpsByPod },
      { resource: "TargetPod", actions: ["UpdatePodLabel"] },
      { resource: "Node", actions: ["Add", "UpdateNodeLabel"], helps: helpsByNode },
      // Pods that ran there are in no domain any more.
      { resource: "Node", actions: ["Delete"] },
    ],
    preFilter: ({ pod, snapshot }) => affinityFilter(pod, snapshot) ?? "skip",
    preScore({ pod, snapshot }) {
      const hasPreferences = pod.preferredAffinity.length + pod.preferredAntiAffinity.length > 0;
      if (!hasPreferences && args.ignorePreferredTermsOfExistingPods) return "skip";
      return affinityScorer(pod, snapshot, args) ?? "skip";
    },
  };
}

/** As in Kubernetes, the labels of namespaces do not count here: a term that selects by them is only heard when it selects all. */
const namespaces: NamespaceLister = { get: () => undefined };

/** Another pod helps when it comes and is wanted, or goes and was in the way. */
function helpsByPod(pod: PodInfo, { action, old, current }: ClusterEvent): boolean {
  const before = old === undefined ? undefined : podInfoOf(old as DeepReadonly<Pod>);
  const after = current === undefined ? undefined : podInfoOf(current as DeepReadonly<Pod>);
  const isWanted = (other: PodInfo | undefined) => other !== undefined && allTermsMatch(pod.requiredAffinity, other, namespaces);
  const isAvoided = (other: PodInfo | undefined) => other !== undefined && pod.requiredAntiAffinity.some((term) => termMatches(term, other, namespaces));
  const isAgainst = (other: PodInfo | undefined) => other !== undefined && other.requiredAntiAffinity.some((term) => termMatches(term, pod, namespaces));
  if (action === "Add") return isWanted(after);
  // When the last of the group that it wants to be with has gone, a pod of that group may start anywhere.
  const mayBeFirst = isWanted(before) && allTermsMatch(pod.requiredAffinity, pod, namespaces);
  if (action === "Delete") return isAvoided(before) || isAgainst(before) || mayBeFirst;
  return (isWanted(after) && !isWanted(before)) || (isAvoided(before) && !isAvoided(after)) || (mayBeFirst && !isWanted(after));
}

function helpsByNode(pod: PodInfo, { old, current }: ClusterEvent): boolean {
  const before = (old as DeepReadonly<Node> | undefined)?.metadata.labels ?? {};
  const after = (current as DeepReadonly<Node> | undefined)?.metadata.labels ?? {};
  const { requiredAffinity, requiredAntiAffinity } = pod;
  if (requiredAffinity.length > 0 && requiredAffinity.every(({ topologyKey }) => topologyKey in after))
    if (old === undefined || requiredAffinity.some(({ topologyKey }) => before[topologyKey] !== after[topologyKey])) return true;
  // A node that leaves a domain leaves those there who do not want the pod.
  if (old === undefined || Object.keys(before).some((key) => before[key] !== after[key])) return true;
  return requiredAntiAffinity.some(({ topologyKey }) => before[topologyKey] !== after[topologyKey]);
}
