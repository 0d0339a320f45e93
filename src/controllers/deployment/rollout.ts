import { controllerOf, resources } from "../../client/index.ts";
import { deleteAction } from "../../operator/index.ts";
import { isFinished } from "../pods/pod-state.ts";
import { revisionOf } from "./annotations.ts";
import { createNewest, resize } from "./replica-set-actions.ts";
import { byAge, isSaturated, newestSize, proportionalSizes, replicasOf, rollingLimits, totalReplicas, totalStatus } from "./sizes.ts";
import { deploymentStatus, isComplete } from "./status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Action } from "../../operator/index.ts";
import type { Family } from "./family.ts";

type Actions = readonly Action[];

/** A step of strategy RollingUpdate: the newest ReplicaSet grows as far as the surge allows, old ones shrink as far as availability allows. */
export function planRolling(family: Family, nowMs: number): Actions {
  const { deployment, newest, all } = family;
  if (newest === undefined) return [createNewest(family, nowMs)];
  const wanted = replicasOf(deployment);
  const size = replicasOf(newest);
  const target = size > wanted ? wanted : size < wanted ? newestSize(deployment, all, size) : size;
  if (target !== size) return resize(deployment, newest, target);
  const shrinking = shrinkOld(family);
  return shrinking.length > 0 ? shrinking : surplusHistoryOnceComplete(family, nowMs);
}

/** A step of strategy Recreate: all old pods are gone before new ones are made. */
export function planRecreate(family: Family, pods: readonly DeepReadonly<Pod>[], nowMs: number): Actions {
  const { deployment, newest, old } = family;
  const active = old.filter((replicaSet) => replicasOf(replicaSet) > 0);
  if (active.length > 0) return active.flatMap((replicaSet) => resize(deployment, replicaSet, 0));
  const oldUids = new Set(old.map(({ metadata }) => metadata.uid));
  const isOldPod = (pod: DeepReadonly<Pod>) => !isFinished(pod) && oldUids.has(controllerOf(pod)?.uid);
  if (totalStatus(old, "replicas") > 0 || pods.some(isOldPod)) return [];
  if (newest === undefined) return [createNewest(family, nowMs)];
  const growing = replicasOf(newest) === replicasOf(deployment) ? [] : resize(deployment, newest, replicasOf(deployment));
  return growing.length > 0 ? growing : surplusHistoryOnceComplete(family, nowMs);
}

/** The sizes after the Deployment's own size changed, or while it is paused. */
export function planScaling(family: Family): Actions {
  const { deployment, newest, old, all } = family;
  const active = all.filter((replicaSet) => replicasOf(replicaSet) > 0);
  const only = active.length > 1 ? undefined : (active[0] ?? newest ?? [...old].sort(byAge).at(-1));
  if (only !== undefined) return replicasOf(only) === replicasOf(deployment) && active.length === 0 ? [] : resize(deployment, only, replicasOf(deployment));
  if (active.length === 0) return [];
  if (isSaturated(deployment, newest)) {
    return active.filter((replicaSet) => replicaSet !== newest).flatMap((replicaSet) => resize(deployment, replicaSet, 0));
  }
  if (deployment.spec?.strategy?.type !== "RollingUpdate") return [];
  return [...proportionalSizes(deployment, active)].flatMap(([replicaSet, size]) => resize(deployment, replicaSet, size));
}

/** Deletes the oldest ReplicaSets beyond the history limit; those with pods, or not yet observed, stay. */
export function surplusHistory({ deployment, old }: Family): Actions {
  const limit = deployment.spec?.revisionHistoryLimit;
  if (limit === undefined || limit === 2 ** 31 - 1) return [];
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const byRevision = [...alive].sort((left, right) => revisionOf(left) - revisionOf(right) || byAge(left, right));
  return byRevision
    .slice(0, Math.max(0, alive.length - limit))
    .filter((replicaSet) => {
      const { generation = 0 } = replicaSet.metadata;
      return (replicaSet.status?.replicas ?? 0) === 0 && replicasOf(replicaSet) === 0 && generation <= (replicaSet.status?.observedGeneration ?? 0);
    })
    .map((replicaSet) => deleteAction(resources.replicaSets, replicaSet, {}, { onError: "continue" }));
}

function surplusHistoryOnceComplete(family: Family, nowMs: number): Actions {
  return isComplete(family.deployment, deploymentStatus(family, nowMs)) ? surplusHistory(family) : [];
}

/** Pods that are not available go first; then available ones, down to the minimum. */
function shrinkOld(family: Family): Actions {
  const { deployment, newest, old, all } = family;
  const active = old.filter((replicaSet) => replicasOf(replicaSet) > 0);
  if (active.length === 0 || newest === undefined) return [];
  const minimum = replicasOf(deployment) - rollingLimits(deployment).maxUnavailable;
  const newestUnavailable = replicasOf(newest) - (newest.status?.availableReplicas ?? 0);
  const room = totalReplicas(all) - minimum - newestUnavailable;
  if (room <= 0) return [];
  const unhealthy = shrinkBy(family, room, (replicaSet) => replicasOf(replicaSet) - (replicaSet.status?.availableReplicas ?? 0));
  if (unhealthy.length > 0) return unhealthy;
  return shrinkBy(family, Math.max(0, lastingReplicas(all) - minimum), replicasOf);
}

/** Takes `count` pods from the old ReplicaSets, the oldest first, from each at most what `available` says. */
function shrinkBy({ deployment, old }: Family, count: number, most: (replicaSet: Family["old"][number]) => number): Actions {
  const actions: Action[] = [];
  let left = count;
  for (const replicaSet of old) {
    const share = Math.min(left, most(replicaSet), replicasOf(replicaSet));
    if (share <= 0) continue;
    left -= share;
    actions.push(...resize(deployment, replicaSet, replicasOf(replicaSet) - share));
  }
  return actions;
}

/**
 * Available pods that stay: of a ReplicaSet that was told a smaller size, those above it are on their way out, however late its status is.
 * (Kubernetes' own controller counts them, and then takes away more than maxUnavailable when that status lags.)
 */
function lastingReplicas(all: Family["all"]): number {
  return all.reduce((sum, replicaSet) => sum + Math.min(replicasOf(replicaSet), replicaSet.status?.availableReplicas ?? 0), 0);
}
