import { deepCopy, deepEqual } from "../../apimachinery/json.ts";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { controllerOf, controllerReference, edited, referenceTo, resources } from "../../client/index.ts";
import { createAction, eventAction, updateAction, updateStatusAction } from "../../operator/index.ts";
import { templateHash } from "../ownership/template-hash.ts";
import { newestAnnotations, nextRevision, revisionAnnotation, sizeAnnotations } from "./annotations.ts";
import { hashLabel, isSameTemplate, withoutHash } from "./family.ts";
import { newestSize, replicasOf, rollingLimits } from "./sizes.ts";
import { condition, hasProgressDeadline, progressing, withCondition } from "./status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Deployment, DeploymentCondition, ReplicaSet } from "../../api/apps-v1/types.ts";
import type { Action, ErrorDecision } from "../../operator/index.ts";
import type { Family } from "./family.ts";

/** Makes the ReplicaSet of the Deployment's template, and notes its revision on the Deployment. */
export function createNewest(family: Family, nowMs: number): Action {
  const { deployment, old, all } = family;
  const revision = nextRevision(old);
  const replicaSet = newestReplicaSet(deployment, newestSize(deployment, all, 0), revision);
  const name = replicaSet.metadata.name ?? "";
  const noted = (isMade: boolean): Action[] =>
    noteNewest(deployment, revision, isMade ? ["NewReplicaSetCreated", `Created new replica set "${name}"`] : undefined, nowMs);
  return createAction(resources.replicaSets, replicaSet, {
    onDone: (made) => [...noted(true), ...(replicasOf(made) > 0 ? [scalingEvent(deployment, name, 0, replicasOf(made))] : [])],
    onError: (error) => whenCreationFails(family, replicaSet, error, nowMs),
  });
}

/** Brings the newest ReplicaSet's annotations and `minReadySeconds` up to date, and the Deployment's note of its revision. */
export function refreshNewest({ deployment, newest, old }: Family, nowMs: number): readonly Action[] {
  if (newest === undefined) return [];
  const revision = nextRevision(old);
  const annotations = newestAnnotations(deployment, newest, revision);
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  if (!deepEqual(annotations, newest.metadata.annotations ?? {}) || (newest.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
    const updated = edited<ReplicaSet>(newest, (draft) => {
      draft.metadata.annotations = { ...annotations };
      draft.spec = { ...draft.spec, ...(minReadySeconds > 0 && { minReadySeconds }) };
      if (minReadySeconds === 0) delete draft.spec.minReadySeconds;
    });
    return [updateAction(resources.replicaSets, updated)];
  }
  const isUnknown = condition(deployment.status?.conditions ?? [], "Progressing") === undefined && hasProgressDeadline(deployment);
  return noteNewest(
    deployment,
    Number(annotations[revisionAnnotation] ?? revision),
    isUnknown ? ["FoundNewReplicaSet", `Found new replica set "${newest.metadata.name}"`] : undefined,
    nowMs,
  );
}

/** Gives a ReplicaSet another size, and tells of it; nothing when size and annotations are right. */
export function resize(deployment: DeepReadonly<Deployment>, replicaSet: DeepReadonly<ReplicaSet>, size: number): readonly Action[] {
  const before = replicasOf(replicaSet);
  const desired = replicasOf(deployment);
  const annotations = sizeAnnotations(desired, desired + rollingLimits(deployment).maxSurge);
  const isNoted = Object.entries(annotations).every(([key, value]) => replicaSet.metadata.annotations?.[key] === value);
  if (before === size && isNoted) return [];
  const updated = edited<ReplicaSet>(replicaSet, (draft) => {
    draft.metadata.annotations = { ...draft.metadata.annotations, ...annotations };
    draft.spec = { ...draft.spec, replicas: size };
  });
  const name = replicaSet.metadata.name ?? "";
  return [updateAction(resources.replicaSets, updated, { onDone: () => (before === size ? [] : [scalingEvent(deployment, name, before, size)]) })];
}

function newestReplicaSet(deployment: DeepReadonly<Deployment>, size: number, revision: number): ReplicaSet {
  const { metadata, spec, status } = deployment;
  const template = withoutHash(spec?.template);
  const hash = templateHash(template, status?.collisionCount);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const desired = replicasOf(deployment);
  return {
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: metadata.namespace ?? "",
      labels,
      annotations: { ...newestAnnotations(deployment, undefined, revision), ...sizeAnnotations(desired, desired + rollingLimits(deployment).maxSurge) },
      ownerReferences: [controllerReference(resources.deployments, deployment)],
    },
    spec: {
      replicas: size,
      ...(spec?.minReadySeconds !== undefined && { minReadySeconds: spec.minReadySeconds }),
      selector: edited<NonNullable<ReplicaSet["spec"]>["selector"] & object>(spec?.selector ?? {}, (draft) => {
        draft.matchLabels = { ...draft.matchLabels, [hashLabel]: hash };
      }),
      template: { ...(deepCopy(template) as object), metadata: { ...(deepCopy(template.metadata ?? {}) as object), labels } },
    },
  };
}

/** Writes the revision, and what there is to say about progress, on the Deployment, unless it is there already. */
function noteNewest(
  deployment: DeepReadonly<Deployment>,
  revision: number,
  news: readonly [reason: string, message: string] | undefined,
  nowMs: number,
): Action[] {
  const isNoted = deployment.metadata.annotations?.[revisionAnnotation] === String(revision);
  const progress = news !== undefined && hasProgressDeadline(deployment) ? progressing("True", ...news) : undefined;
  if (isNoted && progress === undefined) return [];
  return [noteCondition(deployment, progress, nowMs, { [revisionAnnotation]: String(revision) })];
}

function noteCondition(
  deployment: DeepReadonly<Deployment>,
  news: DeploymentCondition | undefined,
  nowMs: number,
  annotations: Readonly<Record<string, string>> = {},
): Action {
  const updated = edited<Deployment>(deployment, (draft) => {
    draft.metadata.annotations = { ...draft.metadata.annotations, ...annotations };
    if (news !== undefined) draft.status = { ...draft.status, conditions: withCondition(draft.status?.conditions ?? [], news, nowMs) };
  });
  return updateStatusAction(resources.deployments, updated);
}

function whenCreationFails({ deployment, namesake }: Family, replicaSet: ReplicaSet, error: Error, nowMs: number): ErrorDecision {
  if (isAlreadyExists(error)) return { severity: "stop", actions: whenNameIsTaken(deployment, namesake(replicaSet.metadata.name ?? "")) };
  const message = `Failed to create new replica set "${replicaSet.metadata.name}": ${error.message}`;
  const actions: Action[] = [eventAction(referenceTo(resources.deployments, deployment), { type: "Warning", reason: "ReplicaSetCreateError", message })];
  const current = condition(deployment.status?.conditions ?? [], "Progressing");
  const isTold = current?.reason === "ReplicaSetCreateError";
  if (hasProgressDeadline(deployment) && !isTold) actions.unshift(noteCondition(deployment, progressing("False", "ReplicaSetCreateError", message), nowMs));
  return { severity: "stop", actions };
}

/**
 * Another template has the same hash (or a stranger the name): the next try counts one further. Not while the cache does not show who has it:
 * that may be our own, made by a request whose answer was lost, and a second ReplicaSet of the template would have pods beyond the surge.
 */
function whenNameIsTaken(deployment: DeepReadonly<Deployment>, taker: DeepReadonly<ReplicaSet> | undefined): readonly Action[] {
  if (taker === undefined) return [];
  const isOurs = controllerOf(taker)?.uid === deployment.metadata.uid && isSameTemplate(taker.spec?.template, deployment.spec?.template);
  if (isOurs) return [];
  const updated = edited<Deployment>(deployment, (draft) => {
    draft.status = { ...draft.status, collisionCount: (draft.status?.collisionCount ?? 0) + 1 };
  });
  return [updateStatusAction(resources.deployments, updated)];
}

function scalingEvent(deployment: DeepReadonly<Deployment>, name: string, from: number, to: number): Action {
  const message = `Scaled ${to > from ? "up" : "down"} replica set ${name} from ${from} to ${to}`;
  return eventAction(referenceTo(resources.deployments, deployment), { type: "Normal", reason: "ScalingReplicaSet", message });
}
