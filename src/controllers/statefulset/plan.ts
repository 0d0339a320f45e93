import { deepEqual } from "../../apimachinery/json.ts";
import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { edited, resources } from "../../client/index.ts";
import { updateStatusAction } from "../../operator/index.ts";
import { createRevision, currentRevision, renumber, trimHistory } from "../history/revisions.ts";
import { claimObjects } from "../ownership/claim.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { availableInMs, isReady } from "../pods/pod-state.ts";
import { ordinalOf, revisionLabel } from "./identity.ts";
import { isUp, nextSteps } from "./steps.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from "../../api/apps-v1/types.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { Action, Outcome, Plan } from "../../operator/index.ts";
import type { History } from "../history/revisions.ts";
import type { StatefulContext } from "./steps.ts";

/** Pods with names of their own, made, removed and rolled one after the other (documentation page "StatefulSets"). */
export function planStatefulSet(snapshot: StatefulSetSnapshot, nowMs: number): Plan {
  const { set } = snapshot;
  if (set.metadata.deletionTimestamp !== undefined) return { actions: [] };
  const owner = { ownerResource: resources.statefulSets, owner: set, selector: selectorFromObject(set.spec?.selector) };
  const revisions = claimObjects({ ...owner, resource: resources.controllerRevisions, candidates: snapshot.revisions });
  const pods = claimObjects({ ...owner, resource: resources.pods, candidates: snapshot.pods, canClaim: (pod) => ordinalOf(set, pod) >= 0 });
  if (revisions.actions.length + pods.actions.length > 0)
    return { actions: [...revisions.actions, ...pods.actions], reasons: ["objects to adopt or to release"] };
  const history: History = {
    owner: set,
    ownerResource: resources.statefulSets,
    template: set.spec?.template ?? {},
    revisions: revisions.owned,
    collisionCount: set.status?.collisionCount,
    namesake: snapshot.namesake,
    hashLabel: "controller.kubernetes.io/hash",
  };
  const update = currentRevision(history);
  if (update === undefined) return { actions: [createRevision(history, () => [countCollision(set)])], reasons: ["the template has no revision"] };
  const renumbered = renumber(history, update);
  if (renumbered.length > 0) return { actions: renumbered };
  const current = revisions.owned.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  const context: StatefulContext = { set, pods: pods.owned, claims: snapshot.claims, current, update, nowMs };
  const steps = nextSteps(context);
  const live = new Set([current.metadata.name ?? "", update.metadata.name ?? "", ...pods.owned.map(({ metadata }) => metadata.labels?.[revisionLabel] ?? "")]);
  const trimmed = trimHistory(history, set.spec?.revisionHistoryLimit ?? 10, live);
  return { actions: [...steps, ...trimmed], next: (outcome) => planStatus(context, outcome) };
}

export interface StatefulSetSnapshot {
  readonly set: DeepReadonly<StatefulSet>;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly revisions: readonly DeepReadonly<ControllerRevision>[];
  readonly namesake: History["namesake"];
  /** Of the namespace, by name. */
  readonly claims: ReadonlyMap<string, DeepReadonly<PersistentVolumeClaim>>;
}

function planStatus(context: StatefulContext, { results }: Outcome): Plan {
  const { set, pods, nowMs } = context;
  const made = results.flatMap(({ action, ...result }) =>
    action.kind === "create" && action.resource === resources.pods && result.status === "done" ? [action.object as DeepReadonly<Pod>] : [],
  );
  const status = statusOf(context, [...pods, ...made]);
  const waits = pods.map((pod) => availableInMs(pod, set.spec?.minReadySeconds ?? 0, nowMs) ?? 0).filter((wait) => wait > 0);
  const requeue = waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) };
  if (deepEqual(status, set.status ?? {})) return { actions: [], ...requeue };
  const updated = edited<StatefulSet>(set, (draft) => {
    draft.status = status;
  });
  return { actions: [updateStatusAction(resources.statefulSets, updated, { onError: whenGone })], ...requeue };
}

function statusOf(context: StatefulContext, pods: readonly DeepReadonly<Pod>[]): StatefulSetStatus {
  const { set, current, update } = context;
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const ready = pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod)).length;
  const ofRevision = (revision: DeepReadonly<ControllerRevision>) =>
    alive.filter(({ metadata }) => metadata.labels?.[revisionLabel] === revision.metadata.name).length;
  const updatedReplicas = ofRevision(update);
  const wanted = set.spec?.replicas ?? 1;
  const isComplete = updatedReplicas === wanted && ready === wanted && pods.length === wanted;
  const currentReplicas = isComplete ? updatedReplicas : ofRevision(current);
  const { generation } = set.metadata;
  const { conditions, collisionCount } = set.status ?? {};
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    replicas: pods.length,
    ...(ready > 0 && { readyReplicas: ready }),
    ...(currentReplicas > 0 && { currentReplicas }),
    ...(updatedReplicas > 0 && { updatedReplicas }),
    currentRevision: (isComplete ? update : current).metadata.name ?? "",
    updateRevision: update.metadata.name ?? "",
    collisionCount: collisionCount ?? 0,
    ...(conditions !== undefined && { conditions: [...conditions] }),
    availableReplicas: pods.filter((pod) => isUp(pod, context)).length,
  };
}

function countCollision(set: DeepReadonly<StatefulSet>): Action {
  const updated = edited<StatefulSet>(set, (draft) => {
    draft.status = { ...(draft.status as StatefulSetStatus), collisionCount: (draft.status?.collisionCount ?? 0) + 1 };
  });
  return updateStatusAction(resources.statefulSets, updated);
}
