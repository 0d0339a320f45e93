/** What may not change in a Job, and what may while it is suspended (KEP-2926, KEP-5440). */
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { deepCopy } from "../../apimachinery/json.ts";
import { validateSameSelector } from "../apps-v1/pod-controller-rules.ts";
import type { Container, PodSpec } from "../core-v1/types.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { immutable } from "../update-rules.ts";
import { isTrue } from "./job-status.ts";
import type { Job, JobSpec } from "./types.ts";

export function validateJobChange(job: Job, old: Job, path: FieldPath): FieldError[] {
  const spec = job.spec!;
  const before = old.spec ?? { template: {} };
  const formed = (name: "podFailurePolicy" | "successPolicy", type: string) =>
    immutable(path.child(name), internalForm(type, spec[name]), internalForm(type, before[name]));
  return [
    ...validateCompletions(spec, before, path.child("completions")),
    ...validateSameSelector(spec, before, path),
    ...validateTemplateChange(job, old, path.child("template")),
    ...immutable(path.child("completionMode"), spec.completionMode, before.completionMode),
    ...formed("podFailurePolicy", "api.batch.v1.PodFailurePolicy"),
    ...immutable(path.child("backoffLimitPerIndex"), spec.backoffLimitPerIndex, before.backoffLimitPerIndex),
    ...immutable(path.child("managedBy"), spec.managedBy, before.managedBy),
    ...formed("successPolicy", "api.batch.v1.SuccessPolicy"),
  ];
}

/** An Indexed Job may be scaled: its completions move together with its parallelism. */
function validateCompletions({ completions, parallelism, completionMode }: JobSpec, old: JobSpec, path: FieldPath): FieldError[] {
  if (completionMode !== "Indexed") return immutable(path, completions, old.completions);
  if (completions === old.completions || (completions !== undefined && completions === parallelism)) return [];
  return [invalid(path, completions, "can only be modified in tandem with spec.parallelism")];
}

function validateTemplateChange({ spec }: Job, old: Job, path: FieldPath): FieldError[] {
  const template = spec!.template;
  const before = old.spec?.template ?? {};
  if (!mayReschedule(old)) {
    const type = "api.core.v1.PodTemplateSpec";
    return isSemanticallyEqual(type, template, before) ? [] : [invalid(path, internalForm(type, template), "field is immutable")];
  }
  const type = "api.core.v1.PodSpec";
  const allowed = withNewDirectives(before.spec ?? {}, template.spec ?? {});
  return isSemanticallyEqual(type, template.spec ?? {}, allowed)
    ? []
    : [invalid(path.child("spec"), internalForm(type, template.spec ?? {}), "field is immutable")];
}

/** A suspended Job that has not started yet, or whose controller has stopped its pods. */
function mayReschedule({ spec, status = {} }: Job): boolean {
  return spec?.suspend === true && (status.startTime === undefined || isTrue(status, "Suspended"));
}

/** The old spec with everything that tells where pods run, and what they need, from the new one. */
function withNewDirectives(old: PodSpec, spec: PodSpec): PodSpec {
  const allowed = deepCopy(old);
  for (const name of ["nodeSelector", "tolerations", "schedulingGates"] as const) allowed[name] = spec[name] as never;
  const nodeAffinity = spec.affinity?.nodeAffinity;
  if (spec.affinity !== undefined) allowed.affinity = { ...allowed.affinity, ...(nodeAffinity !== undefined && { nodeAffinity }) };
  if (allowed.affinity !== undefined && nodeAffinity === undefined) delete allowed.affinity.nodeAffinity;
  if (spec.affinity === undefined && Object.keys(allowed.affinity ?? {}).length === 0) delete allowed.affinity;
  takeResources(allowed.containers, spec.containers);
  takeResources(allowed.initContainers, spec.initContainers);
  return allowed;
}

function takeResources(containers: Container[] | undefined, from: readonly Container[] | undefined): void {
  containers?.forEach((container, index) => {
    const source = from?.[index];
    if (source?.name === container.name) container.resources = source.resources ?? {};
  });
}
