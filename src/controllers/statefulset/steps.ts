import { scaledCount } from "../../apimachinery/int-or-string.ts";
import { availableInMs, isFinished, isReady } from "../pods/pod-state.ts";
import { templateOf } from "../history/revisions.ts";
import { isWanted, ordinalOf, ordinalPod, revisionLabel } from "./identity.ts";
import { createOrdinal, deleteOrdinal, missingClaims, repairOrdinal, reownedClaims } from "./pod-actions.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ControllerRevision, StatefulSet } from "../../api/apps-v1/types.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { Action } from "../../operator/index.ts";

export interface StatefulContext {
  readonly set: DeepReadonly<StatefulSet>;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly claims: ReadonlyMap<string, DeepReadonly<PersistentVolumeClaim>>;
  /** What pods below the partition, or not rolled yet, are made from. */
  readonly current: DeepReadonly<ControllerRevision>;
  /** What pods are rolled to. */
  readonly update: DeepReadonly<ControllerRevision>;
  readonly nowMs: number;
}

/**
 * What is to be done next to a StatefulSet's pods (documentation page "StatefulSets", "Deployment and Scaling Guarantees"): first every
 * ordinal has its pod, in order and each only when the ones before are ready; then those beyond the size go, the highest first; then
 * pods of an older revision go, the highest first, as many as may be unavailable. Policy Parallel does not wait.
 */
export function nextSteps(context: StatefulContext): readonly Action[] {
  const { set } = context;
  const isOrdered = set.spec?.podManagementPolicy !== "Parallel";
  const filled = fillOrdinals(context, isOrdered);
  if (filled.isWaiting) return filled.actions;
  const shrunk = removeSurplus(context, isOrdered);
  const actions = [...filled.actions, ...shrunk.actions];
  if (shrunk.isWaiting || actions.some(({ kind }) => kind === "create" || kind === "delete")) return actions;
  return set.spec?.updateStrategy?.type === "OnDelete" ? actions : [...actions, ...roll(context)];
}

interface Step {
  readonly actions: readonly Action[];
  /** Nothing further may happen now. */
  readonly isWaiting: boolean;
}

function fillOrdinals(context: StatefulContext, isOrdered: boolean): Step {
  const { set, pods, claims } = context;
  const actions: Action[] = [];
  const start = set.spec?.ordinals?.start ?? 0;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  for (let ordinal = start; ordinal < start + (set.spec?.replicas ?? 1); ordinal++) {
    const pod = byOrdinal.get(ordinal);
    const step = pod === undefined ? createOrdinal(set, madePod(context, ordinal), claims) : fixPod(context, pod, isOrdered);
    actions.push(...step);
    if (isOrdered && (step.some(({ kind }) => kind === "create" || kind === "delete") || pod === undefined || !isUp(pod, context)))
      return { actions, isWaiting: true };
  }
  return { actions, isWaiting: false };
}

/** In order nothing is repaired before it runs. */
function fixPod(context: StatefulContext, pod: DeepReadonly<Pod>, isOrdered: boolean): Action[] {
  const { set, claims } = context;
  if (pod.metadata.deletionTimestamp !== undefined) return [];
  if (isFinished(pod)) return [deleteOrdinal(set, pod)];
  return isOrdered && !isUp(pod, context) ? missingClaims(set, pod, claims) : repairOrdinal(set, pod, claims);
}

/** Ordinals below the partition come back as they were; where there is no partition those that were not rolled yet. */
function madePod({ set, current, update }: StatefulContext, ordinal: number): Pod {
  const start = set.spec?.ordinals?.start ?? 0;
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  const kept = type === "RollingUpdate" ? (rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0)) : 0;
  const revision = ordinal < start + kept ? current : update;
  return ordinalPod(set, templateOf(revision), { ordinal, revision: revision.metadata.name ?? "" });
}

function removeSurplus(context: StatefulContext, isOrdered: boolean): Step {
  const { set, pods, claims } = context;
  const surplus = pods.filter((pod) => !isWanted(set, ordinalOf(set, pod))).sort((left, right) => ordinalOf(set, right) - ordinalOf(set, left));
  const unhealthy = pods.filter((pod) => !isUp(pod, context)).sort((left, right) => ordinalOf(set, left) - ordinalOf(set, right));
  const actions: Action[] = [];
  for (const pod of surplus) {
    actions.push(...reownedClaims(set, pod, claims));
    if (pod.metadata.deletionTimestamp === undefined) {
      // A broken pod must not be lost over another one that is not well either.
      if (isOrdered && !isUp(pod, context) && unhealthy[0] !== pod) return { actions, isWaiting: true };
      actions.push(deleteOrdinal(set, pod));
    }
    if (isOrdered) return { actions, isWaiting: true };
  }
  return { actions, isWaiting: false };
}

function roll(context: StatefulContext): readonly Action[] {
  const { set, pods, update } = context;
  const start = set.spec?.ordinals?.start ?? 0;
  const { partition = 0, maxUnavailable = 1 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
  const limit = Math.max(1, scaledCount(maxUnavailable, set.spec?.replicas ?? 1, "up") ?? 1);
  const wanted = pods.filter((pod) => isWanted(set, ordinalOf(set, pod)));
  let budget = limit - ((set.spec?.replicas ?? 1) - wanted.filter((pod) => isUp(pod, context)).length);
  const actions: Action[] = [];
  for (const pod of [...wanted].sort((left, right) => ordinalOf(set, right) - ordinalOf(set, left))) {
    if (ordinalOf(set, pod) < start + partition) break;
    const isOld = pod.metadata.labels?.[revisionLabel] !== update.metadata.name;
    if (!isOld || pod.metadata.deletionTimestamp !== undefined) continue;
    if (isUp(pod, context)) {
      if (budget <= 0) break;
      budget -= 1;
    }
    actions.push(deleteOrdinal(set, pod));
  }
  return actions;
}

/** Running, ready, for long enough, and not being deleted. */
export function isUp(pod: DeepReadonly<Pod>, { set, nowMs }: Pick<StatefulContext, "set" | "nowMs">): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase !== "Running" || !isReady(pod)) return false;
  return availableInMs(pod, set.spec?.minReadySeconds ?? 0, nowMs) === 0;
}
