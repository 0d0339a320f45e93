import { isActive, isReady, isTerminating } from "../pods/pod-state.ts";
import { IndexSet } from "./index-set.ts";
import { failuresBefore, indexOf, isTracked } from "./job-pod.ts";
import { judgeFailure } from "./policies.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job, JobStatus } from "../../api/batch-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

/**
 * What a Job's pods amount to. A pod is counted once: its uid is noted in the status first, then its finalizer is taken off, and only when
 * that has been seen the note becomes part of the count (KEP-2307); so no crash in between counts it twice or not at all.
 */
export interface Accounts {
  readonly active: readonly DeepReadonly<Pod>[];
  readonly terminating: number;
  readonly ready: number;
  /** Finished and counted for certain, and noted in the status. */
  readonly succeeded: number;
  readonly failed: number;
  readonly noted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
  readonly succeededIndexes: IndexSet;
  readonly failedIndexes: IndexSet;
  /** Finished pods that are noted or need not be: their finalizer can go. */
  readonly settled: readonly DeepReadonly<Pod>[];
  /** Pods that count as failed. */
  readonly failures: readonly DeepReadonly<Pod>[];
}

/** `isFailing`: the Job has failed, so that pods that still run count as failed. */
export function accountsOf(job: DeepReadonly<Job>, pods: readonly DeepReadonly<Pod>[], isFailing: boolean): Accounts {
  const status: DeepReadonly<JobStatus> = job.status ?? {};
  const isIndexed = job.spec?.completionMode === "Indexed";
  const completions = job.spec?.completions ?? Number.POSITIVE_INFINITY;
  const tracked = pods.filter(isTracked);
  const uids = new Set(tracked.map(({ metadata }) => metadata.uid ?? ""));
  const oldNotes = { succeeded: status.uncountedTerminatedPods?.succeeded ?? [], failed: status.uncountedTerminatedPods?.failed ?? [] };
  const noted = { succeeded: oldNotes.succeeded.filter((uid) => uids.has(uid)), failed: oldNotes.failed.filter((uid) => uids.has(uid)) };
  const counted = {
    succeeded: (status.succeeded ?? 0) + oldNotes.succeeded.length - noted.succeeded.length,
    failed: (status.failed ?? 0) + oldNotes.failed.length - noted.failed.length,
  };
  const settled: DeepReadonly<Pod>[] = [];
  const succeededIndexes: number[] = [];
  for (const pod of tracked) {
    const uid = pod.metadata.uid ?? "";
    const index = indexOf(pod);
    const isInRange = !isIndexed || (index !== undefined && index < completions);
    if (pod.status?.phase === "Succeeded" && !noted.failed.includes(uid)) {
      settled.push(pod);
      if (isIndexed) {
        if (isInRange) succeededIndexes.push(index!);
      } else if (!noted.succeeded.includes(uid)) noted.succeeded.push(uid);
    } else if (hasFailed(pod, job) || isFailing || job.metadata.deletionTimestamp !== undefined) {
      if (!isFailing && !hasFailed(pod, job) && isActive(pod)) continue;
      if (isSupersededLater(job, pod, tracked, isFailing)) continue;
      settled.push(pod);
      if (isInRange && !noted.failed.includes(uid) && judgeFailure(job, pod).action !== "Ignore") noted.failed.push(uid);
    }
  }
  const indexes = isIndexed ? IndexSet.parse(status.completedIndexes, completions).with(succeededIndexes) : new IndexSet();
  const failures = pods.filter((pod) => hasFailed(pod, job));
  return {
    active: pods.filter(isActive),
    terminating: pods.filter(isTerminating).length,
    ready: pods.filter((pod) => isActive(pod) && isReady(pod)).length,
    succeeded: isIndexed ? indexes.size : counted.succeeded,
    failed: counted.failed,
    noted,
    succeededIndexes: indexes,
    failedIndexes: failedIndexesOf(job, failures, completions),
    settled,
    failures,
  };
}

/** Whether a pod counts as failed: one that is only being deleted does, unless replacements wait for the end. */
export function hasFailed(pod: DeepReadonly<Pod>, job: DeepReadonly<Job>): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesOnlyFailed(job) && isTerminating(pod);
}

export function replacesOnlyFailed({ spec }: DeepReadonly<Job>): boolean {
  return spec?.podReplacementPolicy === "Failed";
}

/** Whether the index of a failed pod is not tried any more. */
export function hasIndexFailed(job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): boolean {
  const limit = job.spec?.backoffLimitPerIndex;
  if (limit === undefined) return false;
  const { action } = judgeFailure(job, pod);
  return action === "FailIndex" || (action !== "Ignore" && failuresBefore(pod).counted >= limit);
}

function failedIndexesOf(job: DeepReadonly<Job>, failures: readonly DeepReadonly<Pod>[], completions: number): IndexSet {
  if (job.spec?.backoffLimitPerIndex === undefined) return new IndexSet();
  const fresh = failures.filter((pod) => isTracked(pod) && hasIndexFailed(job, pod)).map(indexOf);
  const known = IndexSet.parse(job.status?.failedIndexes, completions);
  return known.with(fresh.filter((index) => index !== undefined && index < completions) as number[]);
}

/** The last failed pod of an index tells how often it failed: it must stay until another pod has taken its place. */
function isSupersededLater(job: DeepReadonly<Job>, pod: DeepReadonly<Pod>, tracked: readonly DeepReadonly<Pod>[], isFailing: boolean): boolean {
  if (job.spec?.backoffLimitPerIndex === undefined || isFailing || job.metadata.deletionTimestamp !== undefined || hasIndexFailed(job, pod)) return false;
  const total = ({ counted, ignored }: ReturnType<typeof failuresBefore>) => counted + ignored;
  const hasSuccessor = tracked.some((other) => indexOf(other) === indexOf(pod) && total(failuresBefore(other)) > total(failuresBefore(pod)));
  return !hasSuccessor && (indexOf(pod) ?? Number.POSITIVE_INFINITY) < (job.spec?.completions ?? 0);
}
