import { deepEqual } from "../../apimachinery/json.ts";
import { formatTime, parseTime } from "../../apimachinery/time.ts";
import { parseSchedule } from "../../api/batch-v1/schedule.ts";
import { isKnownTimeZone } from "../../api/batch-v1/time-zone.ts";
import { edited, resources } from "../../client/index.ts";
import { updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { jobCondition } from "../job/outcome.ts";
import { createJob, deleteJob, jobName, jobReference, scheduledMsOf, tell } from "./job-actions.ts";
import { lastTime, nextTime } from "./schedule-times.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Schedule } from "../../api/batch-v1/schedule.ts";
import type { CronJob, CronJobStatus, Job } from "../../api/batch-v1/types.ts";
import type { Action, Outcome, Plan } from "../../operator/index.ts";

/**
 * Makes a Job at each time of a schedule, as the concurrency policy allows, keeps the list of those that run, and cleans up behind them
 * (documentation page "CronJob"). The name of a Job tells its time, so that none is made twice.
 */
export function planCronJob({ cronJob, jobs }: CronJobSnapshot, nowMs: number): Plan {
  const listed = reviewJobs(cronJob, jobs);
  const cleaned = surplusHistory(cronJob, jobs);
  const before = [...listed.actions, ...cleaned.map((job) => deleteJob(cronJob, job, "continue"))];
  const status = { ...listed.status, active: (listed.status.active ?? []).filter(({ uid }) => !cleaned.some(({ metadata }) => metadata.uid === uid)) };
  const due = cronJob.metadata.deletionTimestamp === undefined ? decide(cronJob, jobs, status, nowMs) : { actions: [] };
  return {
    actions: [...before, ...due.actions],
    ...(due.requeueAfterMs !== undefined && { requeueAfterMs: due.requeueAfterMs }),
    next: (outcome) => planStatus(cronJob, status, due, outcome),
  };
}

export interface CronJobSnapshot {
  readonly cronJob: DeepReadonly<CronJob>;
  /** Those it manages. */
  readonly jobs: readonly DeepReadonly<Job>[];
}

interface Due {
  readonly actions: readonly Action[];
  readonly requeueAfterMs?: number;
  /** The time for which a Job is made. */
  readonly scheduledMs?: number;
  /** Uids of Jobs that are replaced. */
  readonly replaced?: readonly string[];
}

/** The list of running Jobs as it is now. What was made and never noted, since the status could not be written, is noted now. */
function reviewJobs(cronJob: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[]): { status: CronJobStatus; actions: Action[] } {
  const actions: Action[] = [];
  const { active: _active, ...rest } = (cronJob.status ?? {}) as CronJobStatus;
  let active = [...(cronJob.status?.active ?? [])] as NonNullable<CronJobStatus["active"]>;
  let { lastSuccessfulTime, lastScheduleTime } = rest;
  for (const job of jobs) {
    const scheduledMs = scheduledMsOf(cronJob, job);
    if (scheduledMs !== undefined && (lastScheduleTime === undefined || scheduledMs > parseTime(lastScheduleTime))) lastScheduleTime = formatTime(scheduledMs);
    const isListed = active.some(({ uid }) => uid === job.metadata.uid);
    const end = jobCondition(job, "Complete") ?? jobCondition(job, "Failed");
    if (!isListed && end === undefined) {
      actions.push(tell(cronJob, "Warning", "UnexpectedJob", `Saw a job that the controller did not create or forgot: ${job.metadata.name}`));
      if (scheduledMs !== undefined) active.push(jobReference(job));
    } else if (isListed && end !== undefined) {
      active = active.filter(({ uid }) => uid !== job.metadata.uid);
      actions.push(tell(cronJob, "Normal", "SawCompletedJob", `Saw completed job: ${job.metadata.name}, condition: ${end.type}`));
    }
    const completed = end?.type === "Complete" ? job.status?.completionTime : undefined;
    if (completed !== undefined && (lastSuccessfulTime === undefined || parseTime(completed) > parseTime(lastSuccessfulTime))) lastSuccessfulTime = completed;
  }
  for (const { uid, name } of active) {
    if (jobs.some(({ metadata }) => metadata.uid === uid)) continue;
    active = active.filter((reference) => reference.uid !== uid);
    actions.push(tell(cronJob, "Normal", "MissingJob", `Active job went missing: ${name}`));
  }
  return {
    status: { ...rest, active, ...(lastScheduleTime !== undefined && { lastScheduleTime }), ...(lastSuccessfulTime !== undefined && { lastSuccessfulTime }) },
    actions,
  };
}

function decide(cronJob: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[], status: CronJobStatus, nowMs: number): Due {
  const spec = cronJob.spec;
  const timeZone = spec?.timeZone ?? "UTC";
  if (!isKnownTimeZone(timeZone))
    return { actions: [tell(cronJob, "Warning", "UnknownTimeZone", `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`)] };
  if (spec?.suspend === true) return { actions: [] };
  const parsed = parseSchedule(spec?.schedule ?? "");
  if ("fault" in parsed)
    return { actions: [tell(cronJob, "Warning", "UnparseableSchedule", `unparseable schedule: ${JSON.stringify(spec?.schedule)} : ${parsed.fault}`)] };
  const next = nextTime(parsed.schedule, timeZone, nowMs);
  const requeue = next === undefined ? {} : { requeueAfterMs: next - nowMs + 100 };
  const missed = lastTime(parsed.schedule, timeZone, { sinceMs: earliestMs(cronJob, status, nowMs), nowMs });
  if (missed === undefined && next === undefined) {
    const message = `invalid schedule: ${spec?.schedule} : time difference between two schedules is less than 1 second`;
    return { actions: [tell(cronJob, "Warning", "InvalidSchedule", message)] };
  }
  if (missed === undefined) return { actions: [], ...requeue };
  const warnings: Action[] = missed.isTooMany ? [tell(cronJob, "Warning", "TooManyMissedTimes", tooManyMissed)] : [];
  return { ...startAt(cronJob, jobs, { status, timeZone, schedule: parsed.schedule, scheduledMs: missed.atMs, nowMs, warnings }), ...requeue };
}

interface Start {
  readonly status: CronJobStatus;
  readonly timeZone: string;
  readonly schedule: Schedule;
  readonly scheduledMs: number;
  readonly nowMs: number;
  readonly warnings: readonly Action[];
}

function startAt(cronJob: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[], { status, timeZone, scheduledMs, nowMs, warnings }: Start): Due {
  const { startingDeadlineSeconds, concurrencyPolicy = "Allow" } = cronJob.spec ?? {};
  if (startingDeadlineSeconds !== undefined && scheduledMs + startingDeadlineSeconds * 1000 < nowMs) {
    return { actions: [...warnings, tell(cronJob, "Warning", "MissSchedule", `Missed scheduled time to start a job: ${rfc1123(scheduledMs)}`)] };
  }
  const name = jobName(cronJob, scheduledMs);
  const isMade = jobs.some(({ metadata }) => metadata.name === name) || (status.active ?? []).some((reference) => reference.name === name);
  if (isMade || status.lastScheduleTime === formatTime(scheduledMs)) return { actions: warnings };
  const running = jobs.filter(({ metadata }) => (status.active ?? []).some(({ uid }) => uid === metadata.uid));
  if (concurrencyPolicy === "Forbid" && running.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { actions: [...warnings, tell(cronJob, "Normal", "JobAlreadyActive", message)] };
  }
  const replaced = concurrencyPolicy === "Replace" ? running : [];
  return {
    actions: [...warnings, ...replaced.map((job) => deleteJob(cronJob, job, "stop")), createJob(cronJob, { scheduledMs, timeZone })],
    scheduledMs,
    replaced: replaced.map(({ metadata }) => metadata.uid ?? ""),
  };
}

function planStatus(cronJob: DeepReadonly<CronJob>, reviewed: CronJobStatus, due: Due, { results }: Outcome): Plan {
  const { lastSuccessfulTime } = reviewed;
  let { active = [], lastScheduleTime } = reviewed;
  active = active.filter(({ uid }) => due.replaced?.includes(uid ?? "") !== true);
  for (const result of results) {
    if (result.action.kind !== "create" || result.status !== "done" || result.object === undefined || due.scheduledMs === undefined) continue;
    active = [...active, jobReference(result.object as DeepReadonly<Job>)];
    lastScheduleTime = formatTime(due.scheduledMs);
  }
  const status: CronJobStatus = {
    ...(active.length > 0 && { active }),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
    ...(lastSuccessfulTime !== undefined && { lastSuccessfulTime }),
  };
  if (deepEqual(status, cronJob.status ?? {})) return { actions: [] };
  const updated = edited<CronJob>(cronJob, (draft) => {
    draft.status = status;
  });
  return { actions: [updateStatusAction(resources.cronJobs, updated, { onError: whenGone })] };
}

/** Finished Jobs beyond the history limits, the oldest first. */
function surplusHistory({ spec }: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[]): DeepReadonly<Job>[] {
  const surplus = (type: "Complete" | "Failed", limit: number | undefined) => {
    if (limit === undefined) return [];
    const finished = jobs.filter((job) => jobCondition(job, type) !== undefined && job.metadata.deletionTimestamp === undefined);
    const age = ({ metadata, status }: DeepReadonly<Job>) => `${status?.startTime ?? "9"} ${metadata.name}`;
    return finished.sort((left, right) => (age(left) < age(right) ? -1 : 1)).slice(0, Math.max(0, finished.length - limit));
  };
  return [...surplus("Complete", spec?.successfulJobsHistoryLimit), ...surplus("Failed", spec?.failedJobsHistoryLimit)];
}

/** Since when times count: the last one that was served, or the beginning; never longer ago than the deadline. */
function earliestMs({ metadata, spec }: DeepReadonly<CronJob>, { lastScheduleTime }: CronJobStatus, nowMs: number): number {
  const sinceMs = parseTime(lastScheduleTime ?? metadata.creationTimestamp ?? formatTime(nowMs));
  return spec?.startingDeadlineSeconds === undefined ? sinceMs : Math.max(sinceMs, nowMs - spec.startingDeadlineSeconds * 1000);
}

const tooManyMissed = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";

/** `Mon, 02 Jan 2006 15:04:05 +0000`. */
function rfc1123(ms: number): string {
  return new Date(ms).toUTCString().replace("GMT", "+0000");
}
