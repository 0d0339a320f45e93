import { scaledCount } from "../../apimachinery/int-or-string.ts";
import { desiredReplicasOf, maxReplicasOf } from "./annotations.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Deployment, ReplicaSet } from "../../api/apps-v1/types.ts";

/** How many pods a Deployment and its ReplicaSets may and do have (API reference "DeploymentStrategy"). All counts are pods. */
export interface RollingLimits {
  /** Above the wanted number. */
  readonly maxSurge: number;
  /** Below the wanted number. */
  readonly maxUnavailable: number;
}

type ReplicaSets = readonly DeepReadonly<ReplicaSet>[];

/** Percentages of the wanted number: surge rounded up, unavailable down; where both are none, one may be unavailable. */
export function rollingLimits(deployment: DeepReadonly<Deployment>): RollingLimits {
  const replicas = replicasOf(deployment);
  const { type, rollingUpdate } = deployment.spec?.strategy ?? {};
  if (type !== "RollingUpdate") return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledCount(rollingUpdate?.maxSurge ?? 0, replicas, "up") ?? 0;
  const unavailable = scaledCount(rollingUpdate?.maxUnavailable ?? 0, replicas, "down") ?? 0;
  return { maxSurge, maxUnavailable: Math.min(maxSurge === 0 && unavailable === 0 ? 1 : unavailable, replicas) };
}

export function replicasOf(object: { readonly spec?: { readonly replicas?: number } }): number {
  return object.spec?.replicas ?? 1;
}

export function totalReplicas(replicaSets: ReplicaSets): number {
  return replicaSets.reduce((total, replicaSet) => total + replicasOf(replicaSet), 0);
}

export function totalStatus(replicaSets: ReplicaSets, field: "replicas" | "readyReplicas" | "availableReplicas" | "terminatingReplicas"): number {
  return replicaSets.reduce((total, { status }) => total + (status?.[field] ?? 0), 0);
}

/** How large the newest ReplicaSet may be now. */
export function newestSize(deployment: DeepReadonly<Deployment>, all: ReplicaSets, currentSize: number): number {
  const replicas = replicasOf(deployment);
  if (deployment.spec?.strategy?.type !== "RollingUpdate") return replicas;
  const room = replicas + rollingLimits(deployment).maxSurge - totalReplicas(all);
  return room <= 0 ? currentSize : currentSize + Math.min(room, replicas - currentSize);
}

/** Whether the newest ReplicaSet has all the pods, available, and knows the Deployment's size. */
export function isSaturated(deployment: DeepReadonly<Deployment>, newest: DeepReadonly<ReplicaSet> | undefined): boolean {
  if (newest === undefined) return false;
  const replicas = replicasOf(deployment);
  return replicasOf(newest) === replicas && desiredReplicasOf(newest) === replicas && (newest.status?.availableReplicas ?? 0) === replicas;
}

/**
 * New sizes of several active ReplicaSets after the Deployment was resized in the middle of a rollout: the difference is shared in
 * proportion to their sizes, the rest goes to the largest (documentation page "Deployments", "Proportional scaling").
 */
export function proportionalSizes(deployment: DeepReadonly<Deployment>, active: ReplicaSets): Map<DeepReadonly<ReplicaSet>, number> {
  const replicas = replicasOf(deployment);
  const allowed = replicas > 0 ? replicas + rollingLimits(deployment).maxSurge : 0;
  const toAdd = allowed - totalReplicas(active);
  const sizes = new Map<DeepReadonly<ReplicaSet>, number>();
  let added = 0;
  const ordered = [...active].sort((left, right) => replicasOf(right) - replicasOf(left) || (toAdd > 0 ? byAge(right, left) : byAge(left, right)));
  for (const replicaSet of ordered) {
    const share = toAdd === 0 ? 0 : shareOf(deployment, replicaSet, toAdd, added);
    sizes.set(replicaSet, replicasOf(replicaSet) + share);
    added += share;
  }
  const first = ordered[0];
  if (first !== undefined && toAdd !== 0) sizes.set(first, Math.max(0, sizes.get(first)! + toAdd - added));
  return sizes;
}

/** Older first. */
export function byAge(left: DeepReadonly<ReplicaSet>, right: DeepReadonly<ReplicaSet>): number {
  const [before, after] = [left.metadata.creationTimestamp ?? "", right.metadata.creationTimestamp ?? ""];
  if (before !== after) return before < after ? -1 : 1;
  return (left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1;
}

function shareOf(deployment: DeepReadonly<Deployment>, replicaSet: DeepReadonly<ReplicaSet>, toAdd: number, added: number): number {
  const size = replicasOf(replicaSet);
  if (size === 0 || toAdd === added) return 0;
  const replicas = replicasOf(deployment);
  const open = toAdd - added;
  const bounded = (share: number) => (toAdd > 0 ? Math.min(share, open) : Math.max(share, open));
  if (replicas === 0) return bounded(-size);
  const maximumBefore = maxReplicasOf(replicaSet) || (deployment.status?.replicas ?? 0);
  if (maximumBefore === 0) return 0;
  const maximumNow = replicas + rollingLimits(deployment).maxSurge;
  return bounded(Math.round((size * maximumNow) / maximumBefore) - size);
}
