import { deepEqual } from "../../apimachinery/json.ts";
import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { eventAction, updateStatusAction } from "../../operator/index.ts";
import { createRevision, currentRevision, hashOf, renumber, trimHistory } from "../history/revisions.ts";
import { claimObjects } from "../ownership/claim.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { createPodAction, deletePodAction } from "../pods/pod-from-template.ts";
import { availableInMs, isReady } from "../pods/pod-state.ts";
import { daemonPod, isUpToDate, revisionHashLabel, targetNode } from "./daemon-pod.ts";
import { placeOf, placePods, rollPods } from "./placement.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ControllerRevision, DaemonSet, DaemonSetStatus } from "../../api/apps-v1/types.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";
import type { History } from "../history/revisions.ts";
import type { Place, Placement, RolloutContext } from "./placement.ts";

/** One pod on every node that fits, of the newest template as fast as the update strategy allows (documentation page "DaemonSet"). */
export function planDaemonSet(snapshot: DaemonSetSnapshot, nowMs: number): Plan {
  const { set } = snapshot;
  const selector = selectorFromObject(set.spec?.selector);
  if (selector.requirements.length === 0 && !selector.selectsNothing) {
    const message = "This daemon set is selecting all pods. A non-empty selector is required.";
    return { actions: [eventAction(referenceTo(resources.daemonSets, set), { type: "Warning", reason: "SelectingAll", message })] };
  }
  if (set.metadata.deletionTimestamp !== undefined) return { actions: [] };
  const owner = { ownerResource: resources.daemonSets, owner: set, selector };
  const revisions = claimObjects({ ...owner, resource: resources.controllerRevisions, candidates: snapshot.revisions });
  const pods = claimObjects({ ...owner, resource: resources.pods, candidates: snapshot.pods });
  if (revisions.actions.length + pods.actions.length > 0)
    return { actions: [...revisions.actions, ...pods.actions], reasons: ["objects to adopt or to release"] };
  const history: History = {
    owner: set,
    ownerResource: resources.daemonSets,
    template: set.spec?.template ?? {},
    revisions: revisions.owned,
    collisionCount: set.status?.collisionCount,
    namesake: snapshot.namesake,
    hashLabel: revisionHashLabel,
  };
  const revision = currentRevision(history);
  if (revision === undefined) return { actions: [createRevision(history, () => [countCollision(set)])], reasons: ["the template has no revision"] };
  const renumbered = renumber(history, revision);
  if (renumbered.length > 0) return { actions: renumbered };
  return planPlaces(snapshot, pods.owned, { set, hash: hashOf(revision, revisionHashLabel), nowMs }, history);
}

export interface DaemonSetSnapshot {
  readonly set: DeepReadonly<DaemonSet>;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly revisions: readonly DeepReadonly<ControllerRevision>[];
  readonly namesake: History["namesake"];
  readonly nodes: readonly DeepReadonly<Node>[];
  /** How long to wait before a finished pod of this node makes room for another, in ms. Asked once per look. */
  readonly killDelayMs: (nodeName: string) => number;
}

const burst = 250;

function planPlaces(snapshot: DaemonSetSnapshot, pods: readonly DeepReadonly<Pod>[], context: RolloutContext, history: History): Plan {
  const { set, hash } = context;
  const byNode = new Map<string, DeepReadonly<Pod>[]>();
  for (const pod of pods) byNode.set(targetNode(pod), [...(byNode.get(targetNode(pod)) ?? []), pod]);
  const places = snapshot.nodes.map((node) => placeOf(set, node, byNode.get(node.metadata.name ?? "") ?? []));
  const known = new Set(snapshot.nodes.map(({ metadata }) => metadata.name ?? ""));
  const homeless = pods.filter((pod) => (pod.spec?.nodeName ?? "") === "" && targetNode(pod) !== "" && !known.has(targetNode(pod)));
  const placement = placePods(places, context);
  const first = placementActions(snapshot, { ...placement, remove: [...placement.remove, ...homeless] }, hash);
  const isRolling = set.spec?.updateStrategy?.type === "RollingUpdate";
  const second = first.actions.length > 0 || !isRolling ? [] : placementActions(snapshot, rollPods(places, context), hash).actions;
  const live = new Set([...pods.map(({ metadata }) => `${set.metadata.name}-${metadata.labels?.[revisionHashLabel] ?? ""}`), `${set.metadata.name}-${hash}`]);
  const actions = [...first.actions, ...second, ...trimHistory(history, set.spec?.revisionHistoryLimit ?? 10, live)];
  return { actions, next: () => planStatus(places, context, first.retryInMs) };
}

function placementActions(
  { set, killDelayMs }: DaemonSetSnapshot,
  { remove, finished, create }: Placement,
  hash: string,
): { actions: Action[]; retryInMs?: number } {
  const actions: Action[] = [];
  let retryInMs = Number.POSITIVE_INFINITY;
  const waiting = new Set<DeepReadonly<Pod>>();
  for (const pod of finished) {
    const delayMs = killDelayMs(targetNode(pod));
    if (delayMs > 0) {
      waiting.add(pod);
      retryInMs = Math.min(retryInMs, delayMs);
    } else actions.push(finishedEvent(set, pod));
  }
  const creations = create.slice(0, burst).map((node) => createPodAction(resources.daemonSets, set, daemonPod(set, node, hash)));
  const removals = remove
    .filter((pod) => !waiting.has(pod))
    .slice(0, burst)
    .map((pod) => deletePodAction(resources.daemonSets, set, pod));
  if (creations.length > 0) actions.push({ kind: "group", mode: "slowStart", actions: creations });
  if (removals.length > 0) actions.push({ kind: "group", mode: "parallel", actions: removals });
  return { actions, ...(Number.isFinite(retryInMs) && { retryInMs }) };
}

function finishedEvent(set: DeepReadonly<DaemonSet>, pod: DeepReadonly<Pod>): Action {
  const title = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${targetNode(pod)}`;
  const event =
    pod.status?.phase === "Failed"
      ? ({ type: "Warning", reason: "FailedDaemonPod", message: `Found failed ${title}, will try to kill it` } as const)
      : ({ type: "Normal", reason: "SucceededDaemonPod", message: `Found succeeded ${title}, will try to delete it` } as const);
  return eventAction(referenceTo(resources.daemonSets, set), event);
}

function planStatus(places: readonly Place[], context: RolloutContext, retryInMs: number | undefined): Plan {
  const { set, nowMs } = context;
  const status = statusOf(places, context);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const waits = places.flatMap(({ pods }) => pods.map((pod) => availableInMs(pod, minReadySeconds, nowMs) ?? 0)).filter((wait) => wait > 0);
  const soonest = Math.min(retryInMs ?? Number.POSITIVE_INFINITY, ...waits);
  const requeue = Number.isFinite(soonest) ? { requeueAfterMs: soonest } : {};
  if (deepEqual(status, set.status ?? {})) return { actions: [], ...requeue };
  const updated = edited<DaemonSet>(set, (draft) => {
    draft.status = status;
  });
  return { actions: [updateStatusAction(resources.daemonSets, updated, { onError: whenGone })], ...requeue };
}

function statusOf(places: readonly Place[], { set, hash, nowMs }: RolloutContext): DaemonSetStatus {
  const wanted = places.filter(({ mayStart }) => mayStart);
  const first = wanted.map(({ pods }) => pods[0]).filter((pod) => pod !== undefined);
  const available = first.filter((pod) => availableInMs(pod, set.spec?.minReadySeconds ?? 0, nowMs) === 0).length;
  const updated = first.filter((pod) => isUpToDate(pod, set, hash)).length;
  const { generation } = set.metadata;
  const { collisionCount, conditions } = set.status ?? {};
  return {
    currentNumberScheduled: first.length,
    numberMisscheduled: places.filter(({ mayStart, pods }) => !mayStart && pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: first.filter(isReady).length,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(updated > 0 && { updatedNumberScheduled: updated }),
    ...(available > 0 && { numberAvailable: available }),
    ...(wanted.length > available && { numberUnavailable: wanted.length - available }),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions !== undefined && { conditions: [...conditions] }),
  };
}

function countCollision(set: DeepReadonly<DaemonSet>): Action {
  const updated = edited<DaemonSet>(set, (draft) => {
    draft.status = { ...(draft.status as DaemonSetStatus), collisionCount: (draft.status?.collisionCount ?? 0) + 1 };
  });
  return updateStatusAction(resources.daemonSets, updated);
}
