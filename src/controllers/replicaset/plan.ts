import { deepEqual } from "../../apimachinery/json.ts";
import { matchesLabels, selectorFromLabels } from "../../apimachinery/selectors/label-selector.ts";
import { edited, resources } from "../../client/index.ts";
import { nothingToDo, updateStatusAction } from "../../operator/index.ts";
import { claimObjects } from "../ownership/claim.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { inDeletionOrder, podsPerNode } from "../pods/deletion-order.ts";
import { createPodAction, deletePodAction, podFromTemplate } from "../pods/pod-from-template.ts";
import { availableInMs, isActive, isFinished, isTerminating } from "../pods/pod-state.ts";
import { withFailure } from "./failure-condition.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { LabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import type { ReplicaSetStatus } from "../../api/apps-v1/types.ts";
import type { Pod, PodTemplateSpec } from "../../api/core-v1/types.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Action, GroupAction, Outcome, Plan } from "../../operator/index.ts";

/**
 * A set has as many active pods as it asks for (documentation page "ReplicaSet"): matching orphans are adopted, missing pods created in
 * growing batches, surplus ones deleted in deletion order; finished pods are left alone and replaced. The status counts what was there
 * before. For ReplicaSets and ReplicationControllers.
 */
export function planReplicas(snapshot: ReplicasSnapshot, nowMs: number): Plan {
  const { set } = snapshot;
  const claimed = claimObjects({
    ownerResource: set.resource,
    owner: set.object,
    selector: set.selector,
    resource: resources.pods,
    candidates: snapshot.candidates.filter((pod) => !isFinished(pod)),
  });
  const active = claimed.owned.filter(isActive);
  const surplus = active.length - set.replicas;
  const isLeaving = set.object.metadata.deletionTimestamp !== undefined;
  const scaling = isLeaving || surplus === 0 ? undefined : surplus < 0 ? growth(set, -surplus) : shrinkage(snapshot, active, surplus, nowMs);
  return {
    actions: [...claimed.actions, ...(scaling === undefined ? [] : [scaling])],
    reasons: scaling === undefined ? [] : [`${active.length} active pods, ${set.replicas} wanted`],
    next: (outcome) => planStatus(snapshot, claimed.owned, { surplus, failure: scaling && outcome.failure, outcome }, nowMs),
  };
}

export interface ReplicasSnapshot {
  readonly set: PodSet;
  /** Own pods, and those of the namespace that nobody manages. */
  readonly candidates: readonly DeepReadonly<Pod>[];
  /** Pods of all sets of the same workload, by which nodes are compared; own pods when absent. */
  readonly relatedPods?: readonly DeepReadonly<Pod>[];
}

/** What ReplicaSets and ReplicationControllers have in common. */
export interface PodSet {
  readonly resource: ResourceType;
  readonly object: DeepReadonly<KubeObject>;
  readonly selector: LabelSelector;
  readonly template: DeepReadonly<PodTemplateSpec>;
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly status: DeepReadonly<ReplicaSetStatus>;
  /** Whether the status tells of pods that are still terminating. */
  readonly countsTerminating: boolean;
}

/** So many pods at most are created or deleted at one go. */
const burst = 500;

function growth({ resource, object, template }: PodSet, count: number): GroupAction {
  const create = (): Action => createPodAction(resource, object, podFromTemplate(template, resource, object));
  return { kind: "group", mode: "slowStart", actions: Array.from({ length: Math.min(count, burst) }, create) };
}

function shrinkage({ set, relatedPods }: ReplicasSnapshot, active: readonly DeepReadonly<Pod>[], count: number, nowMs: number): GroupAction {
  const neighbours = podsPerNode((relatedPods ?? active).filter(isActive));
  const victims = inDeletionOrder(active, neighbours, nowMs).slice(0, Math.min(count, burst));
  return { kind: "group", mode: "parallel", actions: victims.map((pod) => deletePodAction(set.resource, set.object, pod)) };
}

interface Progress {
  /** More (or, negative, fewer) active pods than wanted, before this plan. */
  readonly surplus: number;
  readonly failure: Error | undefined;
  readonly outcome: Outcome;
}

function planStatus({ set }: ReplicasSnapshot, owned: readonly DeepReadonly<Pod>[], progress: Progress, nowMs: number): Plan {
  const counts = countPods(set, owned, nowMs);
  const status = statusOf(set, counts, progress, nowMs);
  const requeue = Number.isFinite(counts.nextAvailableMs) ? { requeueAfterMs: counts.nextAvailableMs } : {};
  if (deepEqual(status, { ...set.status })) return { ...nothingToDo, ...requeue };
  const updated = edited<KubeObject>(set.object, (draft) => {
    draft.status = status;
  });
  return { actions: [updateStatusAction(set.resource, updated, { onError: whenGone })], ...requeue };
}

interface PodCounts {
  readonly active: number;
  readonly fullyLabeled: number;
  readonly ready: number;
  readonly available: number;
  readonly terminating: number;
  /** How long until one more is available; infinite when none is about to be. */
  readonly nextAvailableMs: number;
}

/** One look at each pod: a set may have thousands, and is looked at whenever one changes. */
function countPods(set: PodSet, owned: readonly DeepReadonly<Pod>[], nowMs: number): PodCounts {
  const templateLabels = selectorFromLabels(set.template.metadata?.labels ?? {});
  const counts = { active: 0, fullyLabeled: 0, ready: 0, available: 0, terminating: 0, nextAvailableMs: Number.POSITIVE_INFINITY };
  for (const pod of owned) {
    if (isTerminating(pod)) counts.terminating += 1;
    if (!isActive(pod)) continue;
    counts.active += 1;
    if (matchesLabels(templateLabels, pod.metadata.labels)) counts.fullyLabeled += 1;
    const waitMs = availableInMs(pod, set.minReadySeconds, nowMs);
    if (waitMs === undefined) continue;
    counts.ready += 1;
    if (waitMs === 0) counts.available += 1;
    else counts.nextAvailableMs = Math.min(counts.nextAvailableMs, waitMs);
  }
  return counts;
}

function statusOf(set: PodSet, counts: PodCounts, progress: Progress, nowMs: number): ReplicaSetStatus {
  const reason = progress.surplus < 0 ? "FailedCreate" : "FailedDelete";
  const conditions = withFailure(set.status.conditions ?? [], progress.failure && { reason, message: progress.failure.message }, nowMs);
  const { generation } = set.object.metadata;
  return {
    replicas: counts.active,
    ...(counts.fullyLabeled > 0 && { fullyLabeledReplicas: counts.fullyLabeled }),
    ...(counts.ready > 0 && { readyReplicas: counts.ready }),
    ...(counts.available > 0 && { availableReplicas: counts.available }),
    ...(set.countsTerminating && { terminatingReplicas: counts.terminating }),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(conditions.length > 0 && { conditions }),
  };
}
