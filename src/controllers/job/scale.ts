import { resources } from "../../client/index.ts";
import { inDeletionOrder, podsPerNode } from "../pods/deletion-order.ts";
import { createPodAction, deletePodAction } from "../pods/pod-from-template.ts";
import { isTerminating } from "../pods/pod-state.ts";
import { hasIndexFailed, replacesOnlyFailed } from "./accounts.ts";
import { failuresBefore, finishedMs, indexOf, isTracked, jobPod, releaseActivePod } from "./job-pod.ts";
import { judgeFailure } from "./policies.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job } from "../../api/batch-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Action } from "../../operator/index.ts";
import type { Accounts } from "./accounts.ts";
import type { IndexFailures } from "./job-pod.ts";

export interface Scaling {
  readonly action: Action | undefined;
  /** After which pause more pods may be made, in ms. */
  readonly retryInMs?: number;
  /** Pods that go. */
  readonly removed: readonly DeepReadonly<Pod>[];
  readonly created: number;
}

/** Brings the number of active pods to what parallelism and what is left to do ask for; after failures with growing pauses. */
export function scaleJob(job: DeepReadonly<Job>, pods: readonly DeepReadonly<Pod>[], accounts: Accounts, nowMs: number): Scaling {
  const { active } = accounts;
  const wanted = wantedActive(job, accounts);
  const surplus = surplusPods(job, active, accounts, active.length - wanted, nowMs);
  if (surplus.length > 0) return removeAll(job, surplus, "uncounted");
  const leaving = replacesOnlyFailed(job) ? pods.filter(isTerminating).length : 0;
  const missing = Math.min(wanted - active.length - leaving, burst);
  if (missing <= 0) return nothing;
  if (job.spec?.completionMode === "Indexed") return growIndexed(job, pods, accounts, { missing, nowMs });
  const waitMs = backoffMs(accounts.failures, pods, nowMs);
  if (waitMs > 0) return { ...nothing, retryInMs: waitMs };
  return create(
    job,
    Array.from({ length: missing }, () => jobPod(job)),
  );
}

/** Deletes active pods. Those that did nothing wrong are let go of first, so that they do not count as failed. */
export function removeAll(job: DeepReadonly<Job>, pods: readonly DeepReadonly<Pod>[], counting: "counted" | "uncounted"): Scaling {
  if (pods.length === 0) return nothing;
  const actions = pods.map((pod) => {
    const deletion = deletePodAction(resources.jobs, job, pod);
    return counting === "uncounted" && isTracked(pod) ? releaseActivePod(pod, [deletion]) : deletion;
  });
  return { action: { kind: "group", mode: "parallel", actions }, removed: pods, created: 0 };
}

const nothing: Scaling = { action: undefined, removed: [], created: 0 };
const burst = 500;

function wantedActive(job: DeepReadonly<Job>, accounts: Accounts): number {
  const { completions, parallelism = 1, completionMode } = job.spec ?? {};
  const succeeded = accounts.succeeded + (completionMode === "Indexed" ? 0 : accounts.noted.succeeded.length);
  if (completions === undefined) return succeeded > 0 ? Math.min(accounts.active.length, parallelism) : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded - accounts.failedIndexes.size));
}

/** Pods of an index that is out of range, done, failed or twice there go first. */
function surplusPods(
  job: DeepReadonly<Job>,
  active: readonly DeepReadonly<Pod>[],
  accounts: Accounts,
  count: number,
  nowMs: number,
): readonly DeepReadonly<Pod>[] {
  const ordered = inDeletionOrder(active, podsPerNode(active), nowMs);
  const first = job.spec?.completionMode === "Indexed" ? wrongIndexes(job, ordered, accounts) : [];
  const others = ordered.filter((pod) => !first.includes(pod));
  return [...first, ...others.slice(0, Math.max(0, count - first.length))].slice(0, burst);
}

function wrongIndexes(job: DeepReadonly<Job>, ordered: readonly DeepReadonly<Pod>[], accounts: Accounts): DeepReadonly<Pod>[] {
  const seen = new Set<number>();
  const wrong: DeepReadonly<Pod>[] = [];
  for (const pod of [...ordered].reverse()) {
    const index = indexOf(pod);
    const isRight = index !== undefined && index < (job.spec?.completions ?? 0) && !seen.has(index) && !accounts.failedIndexes.has(index);
    if (isRight) seen.add(index);
    else wrong.push(pod);
  }
  return wrong;
}

function growIndexed(
  job: DeepReadonly<Job>,
  pods: readonly DeepReadonly<Pod>[],
  accounts: Accounts,
  { missing, nowMs }: { missing: number; nowMs: number },
): Scaling {
  const isPerIndex = job.spec?.backoffLimitPerIndex !== undefined;
  const waitMs = isPerIndex ? 0 : backoffMs(accounts.failures, pods, nowMs);
  if (waitMs > 0) return { ...nothing, retryInMs: waitMs };
  const taken = new Set(accounts.active.map(indexOf));
  if (replacesOnlyFailed(job)) for (const pod of pods.filter(isTerminating)) taken.add(indexOf(pod));
  const fresh: Pod[] = [];
  let retryInMs = Number.POSITIVE_INFINITY;
  for (let index = 0; index < (job.spec?.completions ?? 0) && fresh.length < missing; index++) {
    if (taken.has(index) || accounts.succeededIndexes.has(index) || accounts.failedIndexes.has(index)) continue;
    const before = isPerIndex ? indexFailures(job, pods, index) : undefined;
    const pauseMs = before === undefined ? 0 : pauseOf(before.failures.counted, before.lastMs, nowMs);
    if (pauseMs > 0) retryInMs = Math.min(retryInMs, pauseMs);
    else fresh.push(jobPod(job, index, before?.failures));
  }
  const retry = Number.isFinite(retryInMs) ? { retryInMs } : {};
  return fresh.length === 0 ? { ...nothing, ...retry } : { ...create(job, fresh), ...retry };
}

/** What the next pod of an index has to know: the failures of the last one, and that one's own. */
function indexFailures(job: DeepReadonly<Job>, pods: readonly DeepReadonly<Pod>[], index: number): { failures: IndexFailures; lastMs: number | undefined } {
  const failed = pods.filter(
    (pod) => isTracked(pod) && indexOf(pod) === index && (pod.status?.phase === "Failed" || isTerminating(pod)) && !hasIndexFailed(job, pod),
  );
  const total = (pod: DeepReadonly<Pod>) => failuresBefore(pod).counted + failuresBefore(pod).ignored;
  const last = failed.sort((left, right) => total(right) - total(left))[0];
  if (last === undefined) return { failures: { counted: 0, ignored: 0 }, lastMs: undefined };
  const { counted, ignored } = failuresBefore(last);
  const isIgnored = judgeFailure(job, last).action === "Ignore";
  return { failures: { counted: counted + (isIgnored ? 0 : 1), ignored: ignored + (isIgnored ? 1 : 0) }, lastMs: finishedMs(last) };
}

function create(job: DeepReadonly<Job>, pods: readonly Pod[]): Scaling {
  const actions = pods.map((pod) => createPodAction(resources.jobs, job, pod));
  return { action: { kind: "group", mode: "slowStart", actions }, removed: [], created: pods.length };
}

/** 10 s after the first failure since the last success, doubled each time, at most ten minutes (documentation page "Jobs"). */
function backoffMs(failures: readonly DeepReadonly<Pod>[], pods: readonly DeepReadonly<Pod>[], nowMs: number): number {
  const successes = pods.filter(({ status }) => status?.phase === "Succeeded").map((pod) => finishedMs(pod) ?? 0);
  const lastSuccessMs = Math.max(0, ...successes);
  const times = failures.map((pod) => finishedMs(pod) ?? 0).filter((time) => time > lastSuccessMs);
  return pauseOf(times.length, times.length === 0 ? undefined : Math.max(...times), nowMs);
}

function pauseOf(count: number, lastMs: number | undefined, nowMs: number): number {
  if (count === 0 || lastMs === undefined) return 0;
  return Math.max(0, lastMs + Math.min(600_000, 10_000 * 2 ** (count - 1)) - nowMs);
}
