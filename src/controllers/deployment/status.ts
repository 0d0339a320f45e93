import { formatTime, parseTime } from "../../apimachinery/time.ts";
import { replicasOf, rollingLimits, totalReplicas, totalStatus } from "./sizes.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Deployment, DeploymentCondition, DeploymentStatus } from "../../api/apps-v1/types.ts";
import type { Family } from "./family.ts";

type Conditions = readonly DeepReadonly<DeploymentCondition>[];

/** The status that a Deployment and its ReplicaSets amount to, conditions about progress and failures left as they were. */
export function deploymentStatus({ deployment, newest, all }: Family, nowMs: number): DeploymentStatus {
  const availableReplicas = totalStatus(all, "availableReplicas");
  const unavailableReplicas = Math.max(0, totalReplicas(all) - availableReplicas);
  const updatedReplicas = newest?.status?.replicas ?? 0;
  const replicas = totalStatus(all, "replicas");
  const readyReplicas = totalStatus(all, "readyReplicas");
  const { generation } = deployment.metadata;
  const { collisionCount } = deployment.status ?? {};
  const isAvailable = availableReplicas >= replicasOf(deployment) - rollingLimits(deployment).maxUnavailable;
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(replicas > 0 && { replicas }),
    ...(updatedReplicas > 0 && { updatedReplicas }),
    ...(readyReplicas > 0 && { readyReplicas }),
    ...(availableReplicas > 0 && { availableReplicas }),
    ...(unavailableReplicas > 0 && { unavailableReplicas }),
    ...(all.every(({ status }) => status?.terminatingReplicas !== undefined) && { terminatingReplicas: totalStatus(all, "terminatingReplicas") }),
    conditions: withCondition(deployment.status?.conditions ?? [], isAvailable ? available : unavailable, nowMs),
    ...(collisionCount !== undefined && { collisionCount }),
  };
}

/** The status with what there is to say about the rollout's progress and about ReplicaSets that cannot make pods. */
export function rolloutStatus(family: Family, nowMs: number): DeploymentStatus {
  const { deployment, newest } = family;
  const status = deploymentStatus(family, nowMs);
  const current = condition(deployment.status?.conditions ?? [], "Progressing");
  let conditions: Conditions = status.conditions ?? [];
  if (!hasProgressDeadline(deployment)) conditions = conditions.filter(({ type }) => type !== "Progressing");
  const isSettled = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === "NewReplicaSetAvailable";
  if (hasProgressDeadline(deployment) && !isSettled) {
    const subject = newest === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newest.metadata.name}"`;
    if (isComplete(deployment, status)) {
      conditions = withCondition(conditions, progressing("True", "NewReplicaSetAvailable", `${subject} has successfully progressed.`), nowMs);
    } else if (hasProgressed(deployment.status ?? {}, status)) {
      conditions = renewed(conditions, progressing("True", "ReplicaSetUpdated", `${subject} is progressing.`), nowMs);
    } else if (hasTimedOut(deployment, conditions, nowMs)) {
      conditions = withCondition(conditions, progressing("False", "ProgressDeadlineExceeded", `${subject} has timed out progressing.`), nowMs);
    }
  }
  const failure = replicaFailure(family);
  conditions = failure === undefined ? conditions.filter(({ type }) => type !== "ReplicaFailure") : withCondition(conditions, failure, nowMs);
  return { ...status, conditions: [...conditions] };
}

/** Whether all pods are of the newest template and available, and none of another is left. */
export function isComplete(deployment: DeepReadonly<Deployment>, status: DeepReadonly<DeploymentStatus>): boolean {
  const replicas = replicasOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

/** Whether the API's `progressDeadlineSeconds` is a deadline at all: its greatest value means none. */
export function hasProgressDeadline({ spec }: DeepReadonly<Deployment>): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== 2 ** 31 - 1;
}

/** How long until the progress deadline has passed for certain, in ms; undefined when nothing waits for it. */
export function deadlineInMs(deployment: DeepReadonly<Deployment>, status: DeepReadonly<DeploymentStatus>, nowMs: number): number | undefined {
  const current = condition(deployment.status?.conditions ?? [], "Progressing");
  if (!hasProgressDeadline(deployment) || current === undefined) return undefined;
  if (isComplete(deployment, status) || current.reason === "ProgressDeadlineExceeded") return undefined;
  return Math.max(0, deadlineMs(deployment, current) - nowMs) + 1000;
}

/** A new condition, at the end; what changes neither status nor reason stays as it is, the time of transition moves only with the status. */
export function withCondition(conditions: Conditions, wanted: DeploymentCondition, nowMs: number): DeploymentCondition[] {
  const current = condition(conditions, wanted.type ?? "");
  if (current !== undefined && current.status === wanted.status && current.reason === wanted.reason) return [...conditions];
  return renewed(conditions, wanted, nowMs);
}

export function progressing(status: string, reason: string, message: string): DeploymentCondition {
  return { type: "Progressing", status, reason, message };
}

export function condition(conditions: Conditions, type: string): DeepReadonly<DeploymentCondition> | undefined {
  return conditions.find((candidate) => candidate.type === type);
}

const available = { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." };
const unavailable = { type: "Available", status: "False", reason: "MinimumReplicasUnavailable", message: "Deployment does not have minimum availability." };

/** The condition written anew, even if it says the same: its time of update moves. */
function renewed(conditions: Conditions, { type, status, reason, message }: DeploymentCondition, nowMs: number): DeploymentCondition[] {
  const current = condition(conditions, type ?? "");
  const now = formatTime(nowMs);
  const lastTransitionTime = current !== undefined && current.status === status ? (current.lastTransitionTime ?? now) : now;
  const entry = { type, status, lastUpdateTime: now, lastTransitionTime, reason, message } as DeploymentCondition;
  return [...conditions.filter((candidate) => candidate.type !== type), entry];
}

function hasProgressed(before: DeepReadonly<DeploymentStatus>, after: DeploymentStatus): boolean {
  const old = (status: DeepReadonly<DeploymentStatus>) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(deployment: DeepReadonly<Deployment>, conditions: Conditions, nowMs: number): boolean {
  const current = condition(conditions, "Progressing");
  if (current === undefined || current.reason === "NewReplicaSetAvailable") return false;
  return current.reason === "ProgressDeadlineExceeded" || deadlineMs(deployment, current) < nowMs;
}

function deadlineMs(deployment: DeepReadonly<Deployment>, current: DeepReadonly<DeploymentCondition>): number {
  return parseTime(current.lastUpdateTime ?? "1970-01-01T00:00:00Z") + (deployment.spec?.progressDeadlineSeconds ?? 0) * 1000;
}

/** The first failure of a ReplicaSet, the newest one's before others'. */
function replicaFailure({ newest, all }: Family): DeploymentCondition | undefined {
  for (const replicaSet of newest === undefined ? all : [newest, ...all]) {
    const failure = replicaSet.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
    if (failure !== undefined) {
      return { type: "ReplicaFailure", status: failure.status ?? "", reason: failure.reason ?? "", message: failure.message ?? "" };
    }
  }
  return undefined;
}
