/**
 * Rules of a job's status, which controllers other than ours may write (KEP-4368). A rule applies when one of the fields that it is
 * about changes, so that objects that already break it can still be written.
 */
import { duplicate, invalid, invalidWithoutValue, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { validateCounts } from "../meta/counts.ts";
import { internalForm } from "../meta/internal-form.ts";
import { isSame } from "../update-rules.ts";
import { firstCommonIndex, parseIndexes } from "./indexes.ts";
import type { Job, JobSpec, JobStatus, UncountedTerminatedPods } from "./types.ts";

const path = FieldPath.root("status");
const conditionsPath = path.child("conditions");

export function validateJobStatus(job: Job, old: Job): FieldError[] {
  const { spec = { template: {} }, status = {} } = job;
  const before = old.status ?? {};
  return [
    ...validateCounts(status, ["active", "succeeded", "failed", "ready", "terminating"], path),
    ...validateUncounted(status.uncountedTerminatedPods ?? {}),
    ...validateCompletion(status, before),
    ...validateFinished(spec, status, before),
    ...validateIndexes(spec, status, before),
    ...validatePodCounts(status, before),
    ...validateSuccessCriteria(status),
    ...validateTransition(spec, status, old),
  ];
}

/** Whether the condition holds. */
export function isTrue({ conditions = [] }: JobStatus, type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

const isFinished = (status: JobStatus) => isTrue(status, "Complete") || isTrue(status, "Failed");
const hasMoved = (status: JobStatus, before: JobStatus, type: string) => isTrue(status, type) !== isTrue(before, type);

function hasChanged(status: JobStatus, before: JobStatus, ...names: (keyof JobStatus)[]): boolean {
  return names.some((name) => !isSame(status[name], before[name]));
}

function validateUncounted({ succeeded = [], failed = [] }: UncountedTerminatedPods): FieldError[] {
  const at = path.child("uncountedTerminatedPods");
  const seen = new Set<string>();
  const check = (uids: readonly string[], name: string) =>
    uids.flatMap((uid, index) => {
      if (uid === "") return [invalid(at.child(name).index(index), uid, "must not be empty")];
      if (seen.has(uid)) return [duplicate(at.child(name).index(index), uid)];
      seen.add(uid);
      return [];
    });
  return [...check(succeeded, "succeeded"), ...check(failed, "failed")];
}

function validateCompletion(status: JobStatus, before: JobStatus): FieldError[] {
  const errors: FieldError[] = [];
  const isComplete = isTrue(status, "Complete");
  const isFailed = isTrue(status, "Failed");
  const isCompletionMoved = hasMoved(status, before, "Complete");
  const timePath = path.child("completionTime");
  const conflict = (text: string) => errors.push(invalidWithoutValue(conditionsPath, text));
  if ((isCompletionMoved || hasMoved(status, before, "Failed")) && isComplete && isFailed) conflict("cannot set Complete=True and Failed=true conditions");
  if ((isCompletionMoved || hasMoved(status, before, "FailureTarget")) && isComplete && isTrue(status, "FailureTarget"))
    conflict("cannot set Complete=True and FailureTarget=true conditions");
  const { completionTime, startTime } = status;
  const isTimeChecked = isCompletionMoved || hasChanged(status, before, "completionTime");
  if (isTimeChecked && completionTime !== undefined && !isComplete)
    errors.push(invalid(timePath, completionTime, "cannot set completionTime when there is no Complete=True condition"));
  if (isTimeChecked && completionTime === undefined && isComplete) errors.push(required(timePath, "completionTime is required for Complete jobs"));
  if (
    hasChanged(status, before, "startTime", "completionTime") &&
    startTime !== undefined &&
    completionTime !== undefined &&
    Date.parse(completionTime) < Date.parse(startTime)
  ) {
    errors.push(invalid(timePath, completionTime, "completionTime cannot be set before startTime"));
  }
  if (hasMoved(status, before, "Failed") && isFailed && !isTrue(status, "FailureTarget"))
    conflict("cannot set Failed=True condition without the FailureTarget=true condition");
  if (isCompletionMoved && isComplete && !isTrue(status, "SuccessCriteriaMet"))
    conflict("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  return errors;
}

function validateFinished(spec: JobSpec, status: JobStatus, before: JobStatus): FieldError[] {
  if (!isFinished(status)) return [];
  const errors: FieldError[] = [];
  const isNew = !isFinished(before);
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  const isSuspendedEmpty = spec.suspend === true && spec.completions === 0;
  if ((isNew || hasChanged(status, before, "active")) && active > 0) errors.push(invalid(path.child("active"), active, "active>0 is invalid for finished job"));
  if ((isNew || hasChanged(status, before, "startTime")) && startTime === undefined && !isSuspendedEmpty)
    errors.push(required(path.child("startTime"), "startTime is required for finished job"));
  const isUncounted = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length > 0;
  if ((isNew || hasChanged(status, before, "uncountedTerminatedPods")) && isUncounted) {
    errors.push(
      invalid(
        path.child("uncountedTerminatedPods"),
        internalForm("api.batch.v1.UncountedTerminatedPods", uncounted),
        "uncountedTerminatedPods needs to be empty for finished job",
      ),
    );
  }
  return errors;
}

function validateIndexes({ completions, completionMode, backoffLimitPerIndex }: JobSpec, status: JobStatus, before: JobStatus): FieldError[] {
  const errors: FieldError[] = [];
  const { completedIndexes = "", failedIndexes } = status;
  const completedPath = path.child("completedIndexes");
  const failedPath = path.child("failedIndexes");
  const isCompletedNew = hasChanged(status, before, "completedIndexes");
  const isFailedNew = hasChanged(status, before, "failedIndexes");
  const completed = parseIndexes(completedIndexes, completions ?? 0);
  const failed = parseIndexes(failedIndexes ?? "", completions ?? 0);
  if (isCompletedNew && completions !== undefined && completionMode === "Indexed" && "fault" in completed) {
    errors.push(invalid(completedPath, completedIndexes, `error parsing completedIndexes: ${completed.fault}`));
  }
  if (isFailedNew && completions !== undefined && backoffLimitPerIndex !== undefined && "fault" in failed) {
    errors.push(invalid(failedPath, failedIndexes, `error parsing failedIndexes: ${failed.fault}`));
  }
  if (isCompletedNew && completedIndexes !== "" && completionMode !== "Indexed") {
    errors.push(invalid(completedPath, completedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode"));
  }
  if (isFailedNew && backoffLimitPerIndex === undefined && failedIndexes !== undefined) {
    errors.push(invalid(failedPath, failedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"));
  }
  if ((isCompletedNew || isFailedNew) && backoffLimitPerIndex !== undefined && "intervals" in completed && "intervals" in failed) {
    const common = firstCommonIndex(completed.intervals, failed.intervals);
    if (common !== undefined) errors.push(invalid(failedPath, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${common}`));
  }
  return errors;
}

function validatePodCounts(status: JobStatus, before: JobStatus): FieldError[] {
  const errors: FieldError[] = [];
  const { terminating = 0, ready, active = 0 } = status;
  const isTerminatingChecked = isFinished(status) !== isFinished(before) || hasChanged(status, before, "terminating");
  if (isTerminatingChecked && isFinished(status) && terminating > 0)
    errors.push(invalid(path.child("terminating"), terminating, "terminating>0 is invalid for finished job"));
  if (hasChanged(status, before, "ready", "active") && ready !== undefined && ready > active)
    errors.push(invalid(path.child("ready"), ready, "cannot set more ready pods than active"));
  return errors;
}

function validateSuccessCriteria(status: JobStatus): FieldError[] {
  if (!isTrue(status, "SuccessCriteriaMet")) return [];
  return ["Failed", "FailureTarget"]
    .filter((type) => isTrue(status, type))
    .map((type) => invalidWithoutValue(conditionsPath, `cannot set SuccessCriteriaMet=True and ${type}=true conditions`));
}

function validateTransition(spec: JobSpec, status: JobStatus, { status: before = {}, spec: oldSpec }: Job): FieldError[] {
  const errors: FieldError[] = ["Failed", "Complete", "FailureTarget"]
    .filter((type) => isTrue(before, type) && !isTrue(status, type))
    .map((type) => invalidWithoutValue(conditionsPath, `cannot disable the terminal ${type}=True condition`));
  const { failed = 0, succeeded = 0, startTime, completionTime } = status;
  if (failed < (before.failed ?? 0)) errors.push(invalid(path.child("failed"), failed, "cannot decrease the failed counter"));
  const isScalable = spec.completionMode === "Indexed" && spec.completions === spec.parallelism;
  if (!isScalable && succeeded < (before.succeeded ?? 0)) errors.push(invalid(path.child("succeeded"), succeeded, "cannot decrease the succeeded counter"));
  if (before.completionTime !== undefined && completionTime !== before.completionTime)
    errors.push(invalid(path.child("completionTime"), completionTime, "field is immutable"));
  if (before.startTime !== undefined && startTime !== before.startTime && oldSpec?.suspend !== true) {
    if (startTime === undefined) errors.push(required(path.child("startTime"), "startTime cannot be removed for unsuspended job"));
    else errors.push(invalid(path.child("startTime"), startTime, "field is immutable for unsuspended job once set"));
  }
  if (isTrue(before, "SuccessCriteriaMet") && !isTrue(status, "SuccessCriteriaMet"))
    errors.push(invalidWithoutValue(conditionsPath, "cannot disable the SuccessCriteriaMet=True condition"));
  return errors;
}
