import { deepEqual } from "../../apimachinery/json.ts";
import { podInfoOf } from "../state/pod-info.ts";
import { resourceAmount } from "../state/resources.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { ClusterEvent, EventAction } from "../framework/cluster-event.ts";

/** In which ways a node changed that may matter to waiting pods. */
export function nodeEvents(old: DeepReadonly<Node>, current: DeepReadonly<Node>): readonly ClusterEvent[] {
  const actions: EventAction[] = [];
  if (!deepEqual(old.status?.allocatable, current.status?.allocatable)) actions.push("UpdateNodeAllocatable");
  if (!deepEqual(old.metadata.labels, current.metadata.labels)) actions.push("UpdateNodeLabel");
  if (!deepEqual(old.spec?.taints, current.spec?.taints) || old.spec?.unschedulable !== current.spec?.unschedulable) actions.push("UpdateNodeTaint");
  if (!deepEqual(old.metadata.annotations, current.metadata.annotations)) actions.push("UpdateNodeAnnotation");
  if (!deepEqual(old.status?.declaredFeatures, current.status?.declaredFeatures)) actions.push("UpdateNodeDeclaredFeature");
  if (!deepEqual(conditionsOf(old), conditionsOf(current))) actions.push("UpdateNodeCondition");
  return actions.map((action) => ({ resource: "Node", action, old, current }));
}

/** In which ways a pod changed: of one that runs, or of one that waits (`TargetPod`). */
export function podEvents(resource: "AssignedPod" | "TargetPod", old: DeepReadonly<Pod>, current: DeepReadonly<Pod>): readonly ClusterEvent[] {
  const actions: EventAction[] = [];
  if (!deepEqual(old.metadata.labels, current.metadata.labels)) actions.push("UpdatePodLabel");
  if (asksForLess(old, current)) actions.push("UpdatePodScaleDown");
  if (!deepEqual(old.spec?.tolerations, current.spec?.tolerations)) actions.push("UpdatePodToleration");
  if ((old.spec?.schedulingGates?.length ?? 0) > 0 && (current.spec?.schedulingGates?.length ?? 0) === 0) actions.push("UpdatePodSchedulingGatesEliminated");
  if (!deepEqual(old.status?.resourceClaimStatuses, current.status?.resourceClaimStatuses)) actions.push("UpdatePodGeneratedResourceClaim");
  if (actions.length === 0 && old.spec !== current.spec && !deepEqual(old.spec, current.spec)) actions.push("Update");
  return actions.map((action) => ({ resource, action, old, current }));
}

function conditionsOf(node: DeepReadonly<Node>): Readonly<Record<string, string>> {
  return Object.fromEntries((node.status?.conditions ?? []).map(({ type, status }) => [type, status]));
}

function asksForLess(old: DeepReadonly<Pod>, current: DeepReadonly<Pod>): boolean {
  const before = podInfoOf(old).requests;
  const after = podInfoOf(current).requests;
  const names = ["cpu", "memory", "ephemeral-storage", ...(before.scalars?.keys() ?? [])];
  return names.some((name) => resourceAmount(after, name) < resourceAmount(before, name));
}
