/** Rules of a job's spec, alone or as a template (API reference "JobSpec"). */
import { invalid, notSupported, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength } from "../../apimachinery/names.ts";
import { validatePodTemplateSpec } from "../core-v1/pod/template.ts";
import { validateCount, validateCounts } from "../meta/counts.ts";
import { validateDomainPath } from "../meta/domain-path.ts";
import { internalForm } from "../meta/internal-form.ts";
import type { RuleContext } from "../strategy.ts";
import { validateFailurePolicy } from "./pod-failure-policy.ts";
import { validateSuccessPolicy } from "./success-policy.ts";
import type { JobSpec } from "./types.ts";

const maxManagerBytes = 63;
const maxIndexedPods = 100_000;
const maxPodsOfVastJob = 10_000;
const completionModes = ["NonIndexed", "Indexed"];
const replacementPolicies = ["Failed", "TerminatingOrFailed"];

/** All rules but those of the selector. */
export function validateJobSpec(spec: JobSpec, context: RuleContext, path: FieldPath): FieldError[] {
  const isIndexed = spec.completionMode === "Indexed";
  const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex"] as const;
  return [
    ...validateCounts(spec, counts, path),
    ...validateFailedIndexes(spec, path),
    ...(spec.managedBy === undefined ? [] : validateManager(spec.managedBy, path.child("managedBy"))),
    ...(spec.completionMode === undefined || completionModes.includes(spec.completionMode)
      ? []
      : [notSupported(path.child("completionMode"), spec.completionMode, completionModes)]),
    ...(isIndexed ? validateIndexed(spec, path) : []),
    ...(spec.completionMode === undefined || spec.completionMode === "NonIndexed" ? validateNotIndexed(spec, path) : []),
    ...(spec.podFailurePolicy === undefined ? [] : validateFailurePolicy(spec, spec.podFailurePolicy, path.child("podFailurePolicy"))),
    ...(spec.successPolicy === undefined
      ? []
      : isIndexed
        ? validateSuccessPolicy(spec.successPolicy, spec.completions ?? 0, path.child("successPolicy"))
        : [invalid(path.child("successPolicy"), internalForm("api.batch.v1.SuccessPolicy", spec.successPolicy), "requires indexed completion mode")]),
    ...validateReplacementPolicy(spec, path.child("podReplacementPolicy")),
    ...validatePodTemplateSpec(spec.template, path.child("template"), context),
    ...validateRestartPolicy(spec, path.child("template", "spec", "restartPolicy")),
  ];
}

function validateFailedIndexes({ maxFailedIndexes, backoffLimitPerIndex }: JobSpec, path: FieldPath): FieldError[] {
  if (maxFailedIndexes === undefined) return [];
  const errors = validateCount(maxFailedIndexes, path.child("maxFailedIndexes"));
  return backoffLimitPerIndex === undefined ? [...errors, required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")] : errors;
}

function validateManager(manager: string, path: FieldPath): FieldError[] {
  return [...validateDomainPath(manager, path), ...(byteLength(manager) > maxManagerBytes ? [tooLong(path, maxManagerBytes)] : [])];
}

function validateIndexed({ completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex }: JobSpec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const failedPath = path.child("maxFailedIndexes");
  if (completions === undefined) errors.push(required(path.child("completions"), "when completion mode is Indexed"));
  if (parallelism > maxIndexedPods)
    errors.push(invalid(path.child("parallelism"), parallelism, `must be less than or equal to ${maxIndexedPods} when completion mode is Indexed`));
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    errors.push(invalid(failedPath, maxFailedIndexes, "must be less than or equal to completions"));
  if ((maxFailedIndexes ?? 0) > maxIndexedPods) errors.push(invalid(failedPath, maxFailedIndexes, `must be less than or equal to ${maxIndexedPods}`));
  if ((completions ?? 0) <= maxIndexedPods || backoffLimitPerIndex === undefined) return errors;
  const vast = `must be less than or equal to ${maxPodsOfVastJob} when completions are above ${maxIndexedPods} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) errors.push(required(failedPath, `must be specified when completions is above ${maxIndexedPods}`));
  if (parallelism > maxPodsOfVastJob) errors.push(invalid(path.child("parallelism"), parallelism, vast));
  if ((maxFailedIndexes ?? 0) > maxPodsOfVastJob) errors.push(invalid(failedPath, maxFailedIndexes, vast));
  return errors;
}

function validateNotIndexed(spec: JobSpec, path: FieldPath): FieldError[] {
  return (["backoffLimitPerIndex", "maxFailedIndexes"] as const)
    .filter((name) => spec[name] !== undefined)
    .map((name) => invalid(path.child(name), spec[name], "requires indexed completion mode"));
}

function validateReplacementPolicy({ podReplacementPolicy: policy, podFailurePolicy }: JobSpec, path: FieldPath): FieldError[] {
  const supported = podFailurePolicy === undefined ? replacementPolicies : ["Failed"];
  return policy === undefined || supported.includes(policy) ? [] : [notSupported(path, policy, supported)];
}

/** A policy that the template left out was defaulted to `Always`, so both count as absent. */
function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, path: FieldPath): FieldError[] {
  const policy = template.spec?.restartPolicy ?? "";
  if (policy === "" || policy === "Always") return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== "OnFailure" && policy !== "Never") return [notSupported(path, policy, ["OnFailure", "Never"])];
  return podFailurePolicy !== undefined && policy !== "Never" ? [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')] : [];
}
