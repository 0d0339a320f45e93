import { podInfoOf } from "../../state/pod-info.ts";
import { matchesLabels } from "../../../apimachinery/selectors/label-selector.ts";
import { constraintsOf, hasAllKeys, systemDefaults } from "./pod-topology-spread/constraint.ts";
import { spreadFilter } from "./pod-topology-spread/filter.ts";
import { spreadScorer } from "./pod-topology-spread/score.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";
import type { Constraint, DefaultConstraint } from "./pod-topology-spread/constraint.ts";

/** Spreads pods over domains: topologySpreadConstraints (KEP-895). */
export function podTopologySpread(args: PodTopologySpreadArgs, objects: ClusterObjects): Plugin {
  const isSystem = args.defaultingType === "System";
  const source = { defaults: isSystem ? systemDefaults : (args.defaultConstraints ?? []), objects };
  const hard = (pod: PodInfo) => constraintsOf(pod, "DoNotSchedule", source);
  return {
    name: "PodTopologySpread",
    events: [
      { resource: "AssignedPod", actions: ["Add", "Delete", "UpdatePodLabel"], helps: (pod, event) => isAboutPod(pod, hard(pod), event) },
      { resource: "TargetPod", actions: ["UpdatePodLabel"] },
      { resource: "Node", actions: ["Add", "Delete", "UpdateNodeLabel", "UpdateNodeTaint"], helps: (pod, event) => isAboutDomains(hard(pod), event) },
    ],
    preFilter({ pod, snapshot }) {
      const constraints = hard(pod);
      return constraints.length === 0 ? "skip" : spreadFilter(pod, constraints, snapshot);
    },
    preScore({ pod, snapshot }, feasible) {
      const constraints = constraintsOf(pod, "ScheduleAnyway", source);
      if (constraints.length === 0) return "skip";
      const requiresAllKeys = !isSystem || (pod.pod.spec?.topologySpreadConstraints?.length ?? 0) > 0;
      return spreadScorer(pod, constraints, { feasible, snapshot, requiresAllKeys });
    },
  };
}

export interface PodTopologySpreadArgs {
  readonly defaultingType: "System" | "List";
  readonly defaultConstraints?: readonly DefaultConstraint[];
}

function isAboutPod(pod: PodInfo, constraints: readonly Constraint[], { old, current }: ClusterEvent): boolean {
  const isMatched = (other: PodInfo) => other.namespace === pod.namespace && constraints.some(({ selector }) => matchesLabels(selector, other.labels));
  return [old, current].some((one) => one !== undefined && isMatched(podInfoOf(one as DeepReadonly<Pod>)));
}

function isAboutDomains(constraints: readonly Constraint[], { action, old, current }: ClusterEvent): boolean {
  const labelsOf = (node: ClusterEvent["old"]) => ({ labels: (node as DeepReadonly<Node> | undefined)?.metadata.labels ?? {} });
  const [before, after] = [labelsOf(old), labelsOf(current)];
  if (action === "UpdateNodeTaint") return hasAllKeys(constraints, after);
  if (action !== "UpdateNodeLabel") return hasAllKeys(constraints, current === undefined ? before : after);
  return constraints.some(({ topologyKey }) => before.labels[topologyKey] !== after.labels[topologyKey]);
}
