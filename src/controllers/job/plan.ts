import { deepEqual } from "../../apimachinery/json.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { eventAction, nothingToDo, updateStatusAction } from "../../operator/index.ts";
import { claimObjects } from "../ownership/claim.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { accountsOf } from "./accounts.ts";
import { isTracked, releasePod, trackingFinalizer } from "./job-pod.ts";
import { deadlineInMs, isJobFinished, jobCondition, outcomeOf } from "./outcome.ts";
import { removeAll, scaleJob } from "./scale.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job, JobCondition, JobStatus } from "../../api/batch-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Action, Outcome, Plan } from "../../operator/index.ts";
import type { Accounts } from "./accounts.ts";
import type { JobOutcome } from "./outcome.ts";
import type { Scaling } from "./scale.ts";

/**
 * One step of a Job (documentation page "Jobs"): what is finished is noted, counted and let go of; then pods are made or removed; and when
 * it is decided how the Job ends, that is said at once, and the end when its last pod has ended.
 */
export function planJob({ job, candidates }: JobSnapshot, nowMs: number): Plan {
  if (job === undefined || isJobFinished(job)) return { actions: candidates.filter((pod) => isTracked(pod)).map((pod) => releasePod(pod)) };
  const { managedBy } = job.spec ?? {};
  if (managedBy !== undefined && managedBy !== ownName) return nothingToDo;
  const claimed = claimObjects({
    ownerResource: resources.jobs,
    owner: job,
    selector: selectorFromObject(job.spec?.selector),
    resource: resources.pods,
    candidates,
    finalizers: [trackingFinalizer],
  });
  if (claimed.actions.length > 0) return { actions: claimed.actions, reasons: ["pods to adopt or to release"] };
  const pods = claimed.owned;
  const outcome = outcomeOf(job, accountsOf(job, pods, jobCondition(job, "FailureTarget") !== undefined), nowMs);
  const accounts = accountsOf(job, pods, outcome?.type === "FailureTarget");
  const scaling = scalingOf(job, pods, { accounts, outcome }, nowMs);
  return {
    actions: scaling.action === undefined ? [] : [scaling.action],
    next: (done) => planStatus(job, { accounts, outcome, scaling, done }, nowMs),
  };
}

export interface JobSnapshot {
  /** Undefined when it is gone: its pods must not be held any longer. */
  readonly job: DeepReadonly<Job> | undefined;
  readonly candidates: readonly DeepReadonly<Pod>[];
}

const ownName = "kubernetes.io/job-controller";

function scalingOf(
  job: DeepReadonly<Job>,
  pods: readonly DeepReadonly<Pod>[],
  { accounts, outcome }: Pick<Findings, "accounts" | "outcome">,
  nowMs: number,
): Scaling {
  if (job.metadata.deletionTimestamp !== undefined) return { action: undefined, removed: [], created: 0 };
  if (outcome !== undefined || job.spec?.suspend === true) return removeAll(job, accounts.active, outcome?.type === "FailureTarget" ? "counted" : "uncounted");
  return scaleJob(job, pods, accounts, nowMs);
}

interface Findings {
  readonly accounts: Accounts;
  readonly outcome: JobOutcome | undefined;
  readonly scaling: Scaling;
  readonly done: Outcome;
}

function planStatus(job: DeepReadonly<Job>, findings: Findings, nowMs: number): Plan {
  const { accounts, scaling, outcome } = findings;
  const events: Action[] = [];
  const status = statusOf(job, findings, { nowMs, events });
  const letGo = accounts.settled.map((pod) => releasePod(pod));
  const waits = [scaling.retryInMs, outcome === undefined ? deadlineInMs(job, nowMs) : undefined].filter((wait) => wait !== undefined);
  const requeue = waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) };
  if (deepEqual(status, job.status ?? {})) return { actions: letGo, ...requeue };
  const updated = edited<Job>(job, (draft) => {
    draft.status = status;
  });
  return { actions: [updateStatusAction(resources.jobs, updated, { onError: whenGone, onDone: () => events }), ...letGo], ...requeue };
}

function statusOf(job: DeepReadonly<Job>, { accounts, outcome, scaling, done }: Findings, { nowMs, events }: { nowMs: number; events: Action[] }): JobStatus {
  const made = done.results.filter(({ action, status }) => action.kind === "create" && status === "done").length;
  const gone = done.results.filter(({ action, status }) => action.kind === "delete" && status === "done").length;
  const active = accounts.active.length + made - gone;
  const readyLeft =
    accounts.ready - scaling.removed.filter((pod) => pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")).length;
  const terminating = accounts.terminating + scaling.removed.filter(({ spec }) => (spec?.nodeName ?? "") !== "").length;
  const conditions = conditionsOf(job, { outcome, accounts, isQuiet: active === 0 && terminating === 0 }, { nowMs, events });
  const isComplete = conditions.some(({ type, status }) => type === "Complete" && status === "True");
  const isSuspended = job.spec?.suspend === true && outcome === undefined;
  const startTime = isSuspended ? undefined : (job.status?.startTime ?? formatTime(nowMs));
  const { failedIndexes, succeededIndexes, noted } = accounts;
  const isIndexed = job.spec?.completionMode === "Indexed";
  return {
    ...(conditions.length > 0 && { conditions }),
    ...(startTime !== undefined && { startTime }),
    ...(isComplete && { completionTime: formatTime(nowMs) }),
    ...(active > 0 && { active }),
    ...(accounts.succeeded > 0 && { succeeded: accounts.succeeded }),
    ...(accounts.failed > 0 && { failed: accounts.failed }),
    terminating,
    ...(isIndexed && succeededIndexes.size > 0 && { completedIndexes: succeededIndexes.toString() }),
    ...(job.spec?.backoffLimitPerIndex !== undefined && { failedIndexes: failedIndexes.toString() }),
    uncountedTerminatedPods: {
      ...(noted.succeeded.length > 0 && { succeeded: [...noted.succeeded] }),
      ...(noted.failed.length > 0 && { failed: [...noted.failed] }),
    },
    ready: Math.max(0, readyLeft),
  };
}

function conditionsOf(
  job: DeepReadonly<Job>,
  { outcome, accounts, isQuiet }: { outcome: JobOutcome | undefined; accounts: Accounts; isQuiet: boolean },
  { nowMs, events }: { nowMs: number; events: Action[] },
): JobCondition[] {
  const conditions: JobCondition[] = [...(job.status?.conditions ?? [])];
  const tell = (type: "Normal" | "Warning", reason: string, message: string) =>
    events.push(eventAction(referenceTo(resources.jobs, job), { type, reason, message }));
  if (outcome === undefined) {
    const isSuspended = job.spec?.suspend === true;
    const known = conditions.findIndex(({ type }) => type === "Suspended");
    const reason = isSuspended ? "JobSuspended" : "JobResumed";
    if (known < 0 ? !isSuspended : conditions[known]!.reason === reason) return conditions;
    const entry = condition("Suspended", isSuspended ? "True" : "False", { reason, message: isSuspended ? "Job suspended" : "Job resumed" }, nowMs);
    if (known < 0) conditions.push(entry);
    else conditions[known] = entry;
    tell("Normal", isSuspended ? "Suspended" : "Resumed", isSuspended ? "Job suspended" : "Job resumed");
    return conditions;
  }
  if (!conditions.some(({ type }) => type === outcome.type)) conditions.push(condition(outcome.type, "True", outcome, nowMs));
  const isCounted = accounts.noted.succeeded.length === 0 && accounts.noted.failed.length === 0 && accounts.settled.length === 0;
  if (!isQuiet || !isCounted) return conditions;
  const isFailed = outcome.type === "FailureTarget";
  conditions.push(condition(isFailed ? "Failed" : "Complete", "True", outcome, nowMs));
  if (isFailed) tell("Warning", outcome.reason, outcome.message);
  else tell("Normal", "Completed", "Job completed");
  return conditions;
}

function condition(type: string, status: string, { reason, message }: { reason: string; message: string }, nowMs: number): JobCondition {
  const now = formatTime(nowMs);
  return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
}
