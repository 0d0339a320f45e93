import { matchesLabels } from "../../../../apimachinery/selectors/label-selector.ts";
import { selectorKey, selectorOf } from "../../../state/pod-info.ts";
import { defaultSelector } from "../default-selector.ts";
import { allowsNode } from "../../../../api/core-v1/node-matching.ts";
import { isTolerated, keepsAway } from "../../nodes/tolerations.ts";
import type { DeepReadonly } from "../../../../apimachinery/json.ts";
import type { LabelSelector } from "../../../../apimachinery/selectors/label-selector.ts";
import type { TopologySpreadConstraint } from "../../../../api/core-v1/types.ts";
import type { SelectableNode } from "../../../../api/core-v1/node-matching.ts";
import type { DomainPods } from "../../../state/domain-pods.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { PodInfo } from "../../../state/pod-info.ts";
import type { ClusterObjects, Snapshot } from "../../../state/snapshot.ts";

/** A spread constraint made ready. */
export interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelSelector;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

export type WhenUnsatisfiable = "DoNotSchedule" | "ScheduleAnyway";

/** The pod's own constraints of one kind; a pod without any constraint gets the profile's. */
export function constraintsOf(
  pod: PodInfo,
  when: WhenUnsatisfiable,
  source: { defaults: readonly DefaultConstraint[]; objects: ClusterObjects },
): readonly Constraint[] {
  const own = pod.pod.spec?.topologySpreadConstraints ?? [];
  if (own.length > 0) return own.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when).map((one) => readyOf(pod, one));
  const defaults = source.defaults.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when);
  if (defaults.length === 0) return [];
  const selector = defaultSelector(pod, source.objects);
  if (selector === undefined) return [];
  return defaults.map(({ topologyKey, maxSkew }) => ({ topologyKey, maxSkew, minDomains: 1, selector, honorsAffinity: true, honorsTaints: false }));
}

export interface DefaultConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
}

export const hostnameKey = "kubernetes.io/hostname";

/** What `defaultingType: System` stands for. */
export const systemDefaults: readonly DefaultConstraint[] = [
  { topologyKey: hostnameKey, maxSkew: 3, whenUnsatisfiable: "ScheduleAnyway" },
  { topologyKey: "topology.kubernetes.io/zone", maxSkew: 5, whenUnsatisfiable: "ScheduleAnyway" },
];

/** Whether the constraint counts all nodes, whatever the pod tolerates and asks for. */
export function countsAll({ honorsAffinity, honorsTaints }: Constraint, { pod }: PodInfo): boolean {
  const isPicky = pod.spec?.nodeSelector !== undefined || pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined;
  return !honorsTaints && !(honorsAffinity && isPicky);
}

/** Whether the node's pods and its domain count for the constraint. */
export function isCounted(constraint: Constraint, pod: PodInfo, node: NodeInfo): boolean {
  if (constraint.honorsAffinity && !allowsNode(pod.pod.spec, node)) return false;
  return !constraint.honorsTaints || node.taints.every((taint) => !keepsAway(taint) || isTolerated(taint, pod.pod.spec?.tolerations));
}

/** The pods that the constraint speaks of; those that are leaving do not count. */
export function matchingPods({ selector }: Constraint, namespace: string, snapshot: Snapshot): DomainPods {
  return snapshot.podCounts({ key: `spread/${namespace}/${selectorKey(selector)}`, isMember: (pod) => isMatching(pod, namespace, selector) });
}

export function isMatching(pod: PodInfo, namespace: string, selector: LabelSelector): boolean {
  return pod.namespace === namespace && !pod.isTerminating && matchesLabels(selector, pod.labels);
}

export function hasAllKeys(constraints: readonly Constraint[], { labels }: Pick<SelectableNode, "labels">): boolean {
  return constraints.every(({ topologyKey }) => topologyKey in labels);
}

function readyOf(pod: PodInfo, constraint: DeepReadonly<TopologySpreadConstraint>): Constraint {
  const { topologyKey, maxSkew, minDomains = 1, labelSelector, nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore", matchLabelKeys = [] } = constraint;
  const selector = selectorOf(labelSelector);
  const fromKeys = matchLabelKeys.filter((key) => key in pod.labels).map((key) => ({ key, operator: "=" as const, values: new Set([pod.labels[key]!]) }));
  return {
    topologyKey,
    maxSkew,
    minDomains,
    selector: fromKeys.length === 0 ? selector : { ...selector, requirements: [...selector.requirements, ...fromKeys] },
    honorsAffinity: nodeAffinityPolicy === "Honor",
    honorsTaints: nodeTaintsPolicy === "Honor",
  };
}
