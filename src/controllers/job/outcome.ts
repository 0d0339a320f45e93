import { parseTime } from "../../apimachinery/time.ts";
import { judgeFailure, metSuccessRule } from "./policies.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job, JobCondition } from "../../api/batch-v1/types.ts";
import type { Accounts } from "./accounts.ts";

/** How a Job ends, as soon as that is decided; the end itself waits until its pods have ended too. */
export interface JobOutcome {
  readonly type: "FailureTarget" | "SuccessCriteriaMet";
  readonly reason: string;
  readonly message: string;
}

/** Undefined while the Job goes on. Failures come before success policies, and what was decided stays. */
export function outcomeOf(job: DeepReadonly<Job>, accounts: Accounts, nowMs: number): JobOutcome | undefined {
  const decided = jobCondition(job, "FailureTarget") ?? jobCondition(job, "SuccessCriteriaMet");
  if (decided !== undefined) return { type: decided.type as JobOutcome["type"], reason: decided.reason ?? "", message: decided.message ?? "" };
  return failureOf(job, accounts, nowMs) ?? successOf(job, accounts);
}

export function jobCondition({ status }: DeepReadonly<Job>, type: string): DeepReadonly<JobCondition> | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

export function isJobFinished(job: DeepReadonly<Job>): boolean {
  return jobCondition(job, "Complete") !== undefined || jobCondition(job, "Failed") !== undefined;
}

/** How long the Job may still run, in ms; undefined without a deadline. */
export function deadlineInMs({ spec, status }: DeepReadonly<Job>, nowMs: number): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || status?.startTime === undefined || spec.suspend === true) return undefined;
  return Math.max(0, parseTime(status.startTime) + spec.activeDeadlineSeconds * 1000 - nowMs);
}

function failureOf(job: DeepReadonly<Job>, accounts: Accounts, nowMs: number): JobOutcome | undefined {
  const spec: Partial<NonNullable<DeepReadonly<Job>["spec"]>> = job.spec ?? {};
  const fatal = accounts.failures.map((pod) => judgeFailure(job, pod)).find(({ action }) => action === "FailJob");
  if (fatal !== undefined) return failure("PodFailurePolicy", fatal.message);
  const failed = accounts.failed + accounts.noted.failed.length;
  const backoffLimit = spec.backoffLimit ?? 6;
  if ((failed > (job.status?.failed ?? 0) && failed > backoffLimit) || hasRestartedTooOften(job, accounts, backoffLimit)) {
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  if (deadlineInMs(job, nowMs) === 0) return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  if (spec.backoffLimitPerIndex === undefined) return undefined;
  if (spec.maxFailedIndexes !== undefined && accounts.failedIndexes.size > spec.maxFailedIndexes) {
    return failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  }
  const isThrough = accounts.failedIndexes.size > 0 && accounts.failedIndexes.size + accounts.succeededIndexes.size >= (spec.completions ?? 0);
  return isThrough ? failure("FailedIndexes", "Job has failed indexes") : undefined;
}

function successOf(job: DeepReadonly<Job>, accounts: Accounts): JobOutcome | undefined {
  const rule = metSuccessRule(job, accounts.succeededIndexes);
  if (rule !== undefined) return { type: "SuccessCriteriaMet", reason: "SuccessPolicy", message: rule };
  const succeeded = accounts.succeeded + (job.spec?.completionMode === "Indexed" ? 0 : accounts.noted.succeeded.length);
  const { completions } = job.spec ?? {};
  const isComplete = completions === undefined ? succeeded > 0 && accounts.active.length === 0 : succeeded >= completions && accounts.active.length === 0;
  if (!isComplete || job.spec?.suspend === true) return undefined;
  return { type: "SuccessCriteriaMet", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
}

/** With `restartPolicy: OnFailure` the kubelet's restarts count against the limit. */
function hasRestartedTooOften(job: DeepReadonly<Job>, { active }: Accounts, backoffLimit: number): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of active) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue;
    for (const { restartCount = 0 } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) restarts += restartCount;
  }
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

function failure(reason: string, message: string): JobOutcome {
  return { type: "FailureTarget", reason, message };
}
