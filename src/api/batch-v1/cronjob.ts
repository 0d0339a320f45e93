import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, subdomainName } from "../../apimachinery/names.ts";
import { selectorForm } from "../apps-v1/pod-controller-rules.ts";
import { hostnameWarnings } from "../core-v1/pod/warnings.ts";
import { validateCount, validateCounts } from "../meta/counts.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { applyJobTemplateDefaults, jobSpecWarnings, prepareJobSpec } from "./job.ts";
import { validateJobSpec } from "./job-rules.ts";
import { parseSchedule } from "./schedule.ts";
import { isKnownTimeZone } from "./time-zone.ts";
import type { CronJob, CronJobSpec, JobSpec } from "./types.ts";

const specPath = FieldPath.root("spec");
const jobPath = specPath.child("jobTemplate", "spec");
const noSpec: CronJobSpec = { schedule: "", jobTemplate: {} };

export const cronJobs = defineKind<CronJob>({
  gvk: { group: "batch", version: "v1", kind: "CronJob" },
  nameRule: subdomainName,
  generation: (cronJob, old) => !isSemanticallyEqual("api.batch.v1.CronJobSpec", cronJob.spec ?? {}, old.spec ?? {}),
  defaults: applyDefaults,
  create: {
    prepare(cronJob, context) {
      cronJob.status = {};
      prepareJobSpec(jobSpecOf(cronJob), undefined, context);
    },
    validate: (cronJob, context) => [
      ...validateSpec(cronJob.spec ?? noSpec, undefined, context),
      ...validateNameLength(cronJob),
      ...validateSchedulePresence(cronJob),
    ],
    warnings: (cronJob) => [...hostnameWarnings(cronJob.metadata.name ?? "", "Pod names and hostnames"), ...specWarnings(cronJob)],
  },
  update: {
    prepare(cronJob, old, context) {
      restoreMembers(cronJob, old, "status");
      prepareJobSpec(jobSpecOf(cronJob), old.spec?.jobTemplate.spec, context);
    },
    validate: (cronJob, old, context) => [...validateSpec(cronJob.spec ?? noSpec, old.spec, context), ...validateSchedulePresence(cronJob)],
    warnings: (cronJob) => specWarnings(cronJob),
    resetFields: ["status"],
  },
  status: {
    prepare: (cronJob, old) => restoreMembers(cronJob, old, "spec"),
    resetFields: ["spec"],
  },
});

function applyDefaults(cronJob: CronJob): void {
  const spec = (cronJob.spec ??= { schedule: "", jobTemplate: {} });
  spec.concurrencyPolicy ||= "Allow";
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  applyJobTemplateDefaults(jobSpecOf(cronJob));
}

/** Jobs get eleven letters more, for a label of 63 characters. */
const maxNameBytes = 52;
const concurrencyPolicies = ["Allow", "Forbid", "Replace"];

function validateSpec(spec: CronJobSpec, old: CronJobSpec | undefined, context: RuleContext): FieldError[] {
  const policy = spec.concurrencyPolicy ?? "";
  const policyPath = specPath.child("concurrencyPolicy");
  return [
    ...(spec.schedule ? validateSchedule(spec, old, specPath.child("schedule")) : []),
    ...validateCount(spec.startingDeadlineSeconds, specPath.child("startingDeadlineSeconds")),
    ...(policy === "" ? [required(policyPath)] : concurrencyPolicies.includes(policy) ? [] : [notSupported(policyPath, policy, concurrencyPolicies)]),
    ...(spec.timeZone === undefined || spec.timeZone === old?.timeZone ? [] : validateTimeZone(spec.timeZone, specPath.child("timeZone"))),
    ...validateJobTemplate(spec.jobTemplate.spec ?? { template: {} }, context),
    ...validateCounts(spec, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], specPath),
  ];
}

/** Rules of the declarative kind come after all others. */
function validateSchedulePresence({ spec }: CronJob): FieldError[] {
  return spec?.schedule ? [] : [required(specPath.child("schedule"))];
}

function validateSchedule({ schedule, timeZone }: CronJobSpec, old: CronJobSpec | undefined, path: FieldPath): FieldError[] {
  const parsed = parseSchedule(schedule);
  const errors = "fault" in parsed ? [invalid(path, schedule, parsed.fault)] : [];
  if (!schedule.includes("TZ")) return errors;
  const wasAllowed = old?.schedule?.includes("TZ") === true;
  if (!wasAllowed) errors.push(invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  else if (timeZone !== undefined) errors.push(invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"));
  return errors;
}

function validateTimeZone(timeZone: string, path: FieldPath): FieldError[] {
  if (timeZone === "") return [invalid(path, timeZone, "timeZone must be nil or non-empty string")];
  const errors: FieldError[] = [];
  if (timeZone.toLowerCase() === "local")
    errors.push(invalid(path, timeZone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
  if (timeZone !== "Local" && !isKnownTimeZone(timeZone)) errors.push(invalid(path, timeZone, `unknown time zone ${timeZone}`));
  return errors;
}

function validateJobTemplate(spec: JobSpec, context: RuleContext): FieldError[] {
  const errors = validateJobSpec(spec, context, jobPath);
  if (spec.selector !== undefined) errors.push(invalid(jobPath.child("selector"), selectorForm(spec.selector), "`selector` will be auto-generated"));
  if (spec.manualSelector === true) errors.push(notSupported(jobPath.child("manualSelector"), true, ["nil", "false"]));
  return errors;
}

function validateNameLength({ metadata: { name = "" } }: CronJob): FieldError[] {
  return byteLength(name) > maxNameBytes ? [invalid(FieldPath.root("metadata", "name"), name, `must be no more than ${maxNameBytes} characters`)] : [];
}

function specWarnings(cronJob: CronJob): string[] {
  const hasZone = (cronJob.spec?.schedule ?? "").includes("TZ");
  const zone =
    "CRON_TZ or TZ used in spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
  return [...(hasZone ? [zone] : []), ...jobSpecWarnings(jobSpecOf(cronJob), jobPath)];
}

function jobSpecOf(cronJob: CronJob): JobSpec {
  const spec = (cronJob.spec ??= { schedule: "", jobTemplate: {} });
  spec.jobTemplate ??= {};
  return (spec.jobTemplate.spec ??= { template: {} });
}
