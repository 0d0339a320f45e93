import type { FieldError } from "../../apimachinery/field-error.ts";
import { fieldErrorText, invalid } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Label, subdomainName } from "../../apimachinery/names.ts";
import { defaultTemplate, prepareTemplate } from "../apps-v1/pod-controller-rules.ts";
import { hostnameWarnings, podTemplateWarnings } from "../core-v1/pod/warnings.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { validateJobSpec } from "./job-rules.ts";
import { generateSelector, validateGeneratedSelector, validateSelector } from "./job-selector.ts";
import { validateJobStatus } from "./job-status.ts";
import { validateJobChange } from "./job-update.ts";
import type { Job, JobSpec } from "./types.ts";

const specPath = FieldPath.root("spec");
const maxInt32 = 2 ** 31 - 1;

export const jobs = defineKind<Job>({
  gvk: { group: "batch", version: "v1", kind: "Job" },
  nameRule: subdomainName,
  generation: (job, old) => !isSemanticallyEqual("api.batch.v1.JobSpec", job.spec ?? {}, old.spec ?? {}),
  defaults: applyDefaults,
  create: {
    prepare(job, context) {
      job.status = {};
      prepareJobSpec(specOf(job), undefined, context);
      generateSelector(job);
    },
    validate: (job, context) => onlyOnce([...validateGeneratedSelector(job), ...validateSpec(specOf(job), context), ...validateIndexedName(job)]),
    warnings: (job) => [...hostnameWarnings(job.metadata.name ?? "", "Pod names and hostnames"), ...jobSpecWarnings(specOf(job), specPath)],
  },
  update: {
    prepare(job, old, context) {
      restoreMembers(job, old, "status");
      prepareJobSpec(specOf(job), old.spec, context);
    },
    validate: (job, old, context) => [...validateSpec(specOf(job), context), ...validateJobChange(job, old, specPath)],
    warnings: (job) => jobSpecWarnings(specOf(job), specPath),
    resetFields: ["status"],
  },
  status: {
    prepare: (job, old) => restoreMembers(job, old, "spec"),
    validate: validateJobStatus,
    resetFields: ["spec"],
  },
  delete: {
    defaultPropagation: "orphan",
    propagationWarning:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  },
  selectableFields: ({ status = {} }) => ({ "status.successful": String(status.succeeded ?? 0) }),
});

function applyDefaults(job: Job): void {
  const spec = (job.spec ??= { template: {} });
  applyJobTemplateDefaults(spec);
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32;
  const labels = spec.template.metadata?.labels ?? {};
  if (Object.keys(labels).length > 0 && Object.keys(job.metadata.labels ?? {}).length === 0) job.metadata.labels = { ...labels };
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
}

/** Defaults of a job's spec that the template of a CronJob gets, too. */
export function applyJobTemplateDefaults(spec: JobSpec): void {
  defaultTemplate(spec);
  if (spec.podFailurePolicy?.rules?.length === 0) delete spec.podFailurePolicy.rules;
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? []) for (const pattern of onPodConditions ?? []) pattern.status ||= "True";
}

/** Drops what is behind feature gates, unless the stored object has it. */
export function prepareJobSpec(spec: JobSpec, old: JobSpec | undefined, context: RuleContext): void {
  prepareTemplate(spec.template, old?.template, context);
  if (!context.isEnabled("WorkloadWithJob") && old?.scheduling === undefined) delete spec.scheduling;
}

/** Warnings of a job's spec, alone or in a CronJob. */
export function jobSpecWarnings(spec: JobSpec, path: FieldPath): string[] {
  const isVast = spec.completionMode === "Indexed" && (spec.completions ?? 0) > 100_000 && (spec.parallelism ?? 0) > 10_000;
  const vast =
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [...(isVast ? [vast] : []), ...podTemplateWarnings(spec.template, path.child("template"))];
}

/** The Job's name is in two labels of its pods: that it is none is told once. */
function onlyOnce(errors: readonly FieldError[]): FieldError[] {
  const told = new Set<string>();
  return errors.filter((error) => {
    const text = fieldErrorText(error);
    return !told.has(text) && told.add(text);
  });
}

function validateSpec(spec: JobSpec, context: RuleContext): FieldError[] {
  return [...validateJobSpec(spec, context, specPath), ...validateSelector(spec, specPath)];
}

/** Pods of an Indexed Job are called after it and their index, and that is their hostname. */
function validateIndexedName({ metadata: { name = "" }, spec }: Job): FieldError[] {
  if (spec?.completionMode !== "Indexed" || (spec.completions ?? 0) <= 0) return [];
  const lastPod = `${name}-${spec.completions! - 1}`;
  return isDns1123Label(lastPod).length === 0
    ? []
    : [invalid(FieldPath.root("metadata", "name"), name, `will not able to create pod with invalid DNS label: ${lastPod}`)];
}

function specOf(job: Job): JobSpec {
  return (job.spec ??= { template: {} });
}
