import { deepEqual } from "../../apimachinery/json.ts";
import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { eventAction, nothingToDo, updateStatusAction } from "../../operator/index.ts";
import { claimObjects } from "../ownership/claim.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { desiredReplicasOf, rollbackAnnotation } from "./annotations.ts";
import { familyOf } from "./family.ts";
import { refreshNewest } from "./replica-set-actions.ts";
import { planRollback } from "./rollback.ts";
import { planRecreate, planRolling, planScaling, surplusHistory } from "./rollout.ts";
import { replicasOf } from "./sizes.ts";
import { condition, deadlineInMs, deploymentStatus, hasProgressDeadline, progressing, rolloutStatus, withCondition } from "./status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "../../api/apps-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Plan } from "../../operator/index.ts";
import type { Family } from "./family.ts";

/**
 * One step of a Deployment towards its template and size (documentation page "Deployments"): a plan does one thing and then writes the
 * status; what follows from it is decided anew on what is then there. In this order: rollback, resizing, rollout by strategy.
 */
export function planDeployment({ deployment, replicaSets, pods, namesake }: DeploymentSnapshot, nowMs: number): Plan {
  const selector = selectorFromObject(deployment.spec?.selector);
  if (selector.requirements.length === 0 && !selector.selectsNothing) return refuseEverything(deployment);
  const claimed = claimObjects({
    ownerResource: resources.deployments,
    owner: deployment,
    selector,
    resource: resources.replicaSets,
    candidates: replicaSets,
  });
  // What was just claimed has another version now: the rest is decided on that.
  if (claimed.actions.length > 0) return { actions: claimed.actions, reasons: ["ReplicaSets to adopt or to release"] };
  return planFamily(familyOf(deployment, claimed.owned, namesake), pods, nowMs);
}

export interface DeploymentSnapshot {
  readonly deployment: DeepReadonly<Deployment>;
  /** Own ones, and those of the namespace that nobody manages. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** Pods of the own ReplicaSets. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** The ReplicaSet of that name, whoever owns it, as the cache has it when it is asked. */
  readonly namesake: Family["namesake"];
}

function planFamily(family: Family, pods: readonly DeepReadonly<Pod>[], nowMs: number): Plan {
  const { deployment } = family;
  if (deployment.metadata.deletionTimestamp !== undefined) return statusPlan(family, deploymentStatus(family, nowMs), nowMs);
  const pause = pausedStatus(deployment, nowMs);
  if (pause !== undefined) return statusPlan(family, pause, nowMs);
  if (deployment.spec?.paused === true) return planPaused(family, nowMs);
  if (deployment.metadata.annotations?.[rollbackAnnotation] !== undefined) return planRollback(family);
  const refresh = refreshNewest(family, nowMs);
  if (refresh.length > 0) return { actions: refresh, reasons: ["the newest ReplicaSet is not noted as such"] };
  if (isResized(family)) {
    const actions = planScaling(family);
    if (actions.length > 0) return { actions, reasons: [`wants ${replicasOf(deployment)} replicas`] };
    return statusPlan(family, deploymentStatus(family, nowMs), nowMs);
  }
  const actions = deployment.spec?.strategy?.type === "Recreate" ? planRecreate(family, pods, nowMs) : planRolling(family, nowMs);
  // Making the newest ReplicaSet writes the status itself.
  if (actions.some(({ kind }) => kind === "create")) return { actions, reasons: ["there is no ReplicaSet of the template"] };
  return statusPlan(family, rolloutStatus(family, nowMs), nowMs, actions);
}

/** While paused nothing is rolled out, but sizes follow and history is cleaned up. */
function planPaused(family: Family, nowMs: number): Plan {
  const refresh = refreshNewest(family, nowMs);
  const actions = [...refresh, ...(refresh.length > 0 ? [] : planScaling(family))];
  if (actions.length > 0) return { actions };
  return statusPlan(family, deploymentStatus(family, nowMs), nowMs, surplusHistory(family));
}

/** Someone changed the size since the ReplicaSets were last told of it. */
function isResized({ deployment, all }: Family): boolean {
  return all.some((replicaSet) => {
    const desired = desiredReplicasOf(replicaSet);
    return replicasOf(replicaSet) > 0 && desired !== undefined && desired !== replicasOf(deployment);
  });
}

/** The status when pausing has to be told of, or that it is over; the clock of the progress deadline stands still meanwhile. */
function pausedStatus(deployment: DeepReadonly<Deployment>, nowMs: number): DeploymentStatus | undefined {
  const conditions = deployment.status?.conditions ?? [];
  const current = condition(conditions, "Progressing");
  if (!hasProgressDeadline(deployment) || current?.reason === "ProgressDeadlineExceeded") return undefined;
  const isPaused = deployment.spec?.paused === true;
  const isTold = current?.reason === "DeploymentPaused";
  if (isPaused === isTold) return undefined;
  const news = isPaused
    ? progressing("Unknown", "DeploymentPaused", "Deployment is paused")
    : progressing("Unknown", "DeploymentResumed", "Deployment is resumed");
  return { ...(deployment.status as DeploymentStatus | undefined), conditions: withCondition(conditions, news, nowMs) };
}

/** Actions and then the status, if it is another; else a look when the progress deadline has passed. */
function statusPlan({ deployment }: Family, status: DeploymentStatus, nowMs: number, actions: Plan["actions"] = []): Plan {
  if (deepEqual(status, deployment.status ?? {})) {
    const requeueAfterMs = deadlineInMs(deployment, status, nowMs);
    return { actions, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
  }
  const updated = edited<Deployment>(deployment, (draft) => {
    draft.status = status;
  });
  return { actions: [...actions, updateStatusAction(resources.deployments, updated, { onError: whenGone })] };
}

function refuseEverything(deployment: DeepReadonly<Deployment>): Plan {
  const message = "This deployment is selecting all pods. A non-empty selector is required.";
  const told = eventAction(referenceTo(resources.deployments, deployment), { type: "Warning", reason: "SelectingAll", message });
  const { generation } = deployment.metadata;
  if (generation === undefined || (deployment.status?.observedGeneration ?? 0) >= generation) return { ...nothingToDo, actions: [told] };
  const updated = edited<Deployment>(deployment, (draft) => {
    draft.status = { ...draft.status, observedGeneration: generation };
  });
  return { actions: [told, updateStatusAction(resources.deployments, updated, { onError: whenGone })] };
}
