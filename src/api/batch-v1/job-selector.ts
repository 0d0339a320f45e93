/** The selector of a Job, which the server makes unless `manualSelector` is set: it asks for the Job's uid (KEP-2258 names of labels). */
import { invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { matchesLabels } from "../../apimachinery/selectors/label-selector.ts";
import { parseSelector, selectorForm, sortedLabels, validateTemplateLabels } from "../apps-v1/pod-controller-rules.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import { isSame } from "../update-rules.ts";
import type { Job, JobSpec } from "./types.ts";

const uidLabel = "batch.kubernetes.io/controller-uid";

/** Labels of a Job's pods, in the order in which their faults are told. */
function ownLabels({ metadata: { name = "", uid = "" } }: Job): Readonly<Record<string, string>> {
  return { "controller-uid": uid, "job-name": name, [uidLabel]: uid, "batch.kubernetes.io/job-name": name };
}

/**
 * Labels that a client set stay; validation tells when they are wrong. A Job whose own labels are those of its template, as they are
 * by default, gets what is generated, too.
 */
export function generateSelector(job: Job): void {
  const spec = job.spec!;
  if (spec.manualSelector === true) return;
  const template = (spec.template.metadata ??= {});
  const labels = (template.labels ??= {});
  const followsTemplate = Object.keys(labels).length > 0 && isSame(job.metadata.labels, labels);
  for (const [name, value] of Object.entries(ownLabels(job))) labels[name] ??= value;
  if (followsTemplate) job.metadata.labels = { ...labels };
  const selector = (spec.selector ??= {});
  (selector.matchLabels ??= {})[uidLabel] ??= job.metadata.uid ?? "";
}

export function validateGeneratedSelector(job: Job): FieldError[] {
  const { selector, manualSelector, template } = job.spec!;
  if (manualSelector === true || selector === undefined) return [];
  const labels = template.metadata?.labels;
  const path = FieldPath.root("spec");
  const errors = Object.entries(ownLabels(job)).flatMap(([name, value]) => {
    const at = path.child("template", "metadata", "labels").key(name);
    if (labels?.[name] === undefined) return [required(at, `must be '${value}'`)];
    return labels[name] === value ? [] : [invalid(at, sortedLabels(labels), `must be '${value}'`)];
  });
  const parsed = parseSelector(selector);
  if (parsed !== undefined && !matchesLabels(parsed, ownLabels(job)))
    errors.push(invalid(path.child("selector"), selectorForm(selector), "`selector` not auto-generated"));
  return errors;
}

export function validateSelector({ selector, template }: JobSpec, path: FieldPath): FieldError[] {
  const errors = selector === undefined ? [required(path.child("selector"))] : validateLabelSelector(selector, path.child("selector"));
  const parsed = parseSelector(selector);
  return parsed === undefined ? errors : [...errors, ...validateTemplateLabels(template, parsed, path.child("template"))];
}
