/** What the kinds that make pods from a template and find them by a selector have in common. */
import { forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { matchesLabels, selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import type { LabelSelector as ParsedSelector } from "../../apimachinery/selectors/label-selector.ts";
import { applyPodSpecDefaults } from "../core-v1/pod/defaults.ts";
import { dropDisabledFields } from "../core-v1/pod/disabled-fields.ts";
import { validatePodTemplateSpec } from "../core-v1/pod/template.ts";
import type { PodSpec, PodTemplateSpec } from "../core-v1/types.ts";
import { internalForm } from "../meta/internal-form.ts";
import { isEmptySelector, validateLabelSelector } from "../meta/labels.ts";
import type { LabelSelector } from "../meta-v1/types.ts";
import type { RuleContext } from "../strategy.ts";
import { isSame } from "../update-rules.ts";

/** Defaults of a template, which is made when there is none. */
export function defaultTemplate(holder: { template?: PodTemplateSpec }): void {
  const template = (holder.template ??= {});
  applyPodSpecDefaults((template.spec ??= {}));
}

/** Drops what is behind feature gates from a template. */
export function prepareTemplate(template: PodTemplateSpec | undefined, old: PodTemplateSpec | undefined, context: RuleContext): void {
  if (template?.spec !== undefined) dropDisabledFields(template.spec, old?.spec, context);
}

/** A selector that must be there and must select something. `kind` as the text says it. */
export function validateRequiredSelector(selector: LabelSelector | undefined, kind: string, path: FieldPath): FieldError[] {
  if (selector === undefined) return [required(path)];
  return [...validateLabelSelector(selector, path), ...validateNotEmpty(selector, kind, path)];
}

export function validateNotEmpty(selector: LabelSelector, kind: string, path: FieldPath): FieldError[] {
  return isEmptySelector(selector) ? [invalid(path, selectorForm(selector), `empty selector is invalid for ${kind}`)] : [];
}

/** The selector to match with, or undefined when it cannot be read. */
export function parseSelector(selector: LabelSelector | undefined): ParsedSelector | undefined {
  try {
    return selectorFromObject(selector);
  } catch {
    return undefined;
  }
}

/** As error texts show a selector. */
export function selectorForm(selector: LabelSelector | undefined): unknown {
  return internalForm("apimachinery.pkg.apis.meta.v1.LabelSelector", selector);
}

export function validateSameSelector(
  spec: { selector?: LabelSelector } | undefined,
  old: { selector?: LabelSelector } | undefined,
  path: FieldPath,
): FieldError[] {
  return isSame(spec?.selector, old?.selector) ? [] : [invalid(path.child("selector"), selectorForm(spec?.selector), "field is immutable")];
}

/** Whether the template's labels are what the selector asks for. */
export function validateTemplateLabels(template: PodTemplateSpec, selector: ParsedSelector, path: FieldPath): FieldError[] {
  const labels = template.metadata?.labels;
  return matchesLabels(selector, labels)
    ? []
    : [invalid(path.child("metadata", "labels"), sortedLabels(labels), "`selector` does not match template `labels`")];
}

/** Pods that a controller keeps running: they restart, and have no deadline. `kind` as the text says it. */
export function validateEndlessPods({ restartPolicy = "", activeDeadlineSeconds }: PodSpec, kind: string, path: FieldPath): FieldError[] {
  return [
    ...(restartPolicy === "Always" ? [] : [notSupported(path.child("restartPolicy"), restartPolicy, ["Always"])]),
    ...(activeDeadlineSeconds === undefined ? [] : [forbidden(path.child("activeDeadlineSeconds"), `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ];
}

/** Selector and template of a ReplicaSet, which a Deployment hands on. */
export function validateReplicated(
  spec: { readonly selector?: LabelSelector; readonly template?: PodTemplateSpec },
  context: RuleContext,
  path: FieldPath,
): FieldError[] {
  const { template = {} } = spec;
  const at = path.child("template");
  const errors = validateRequiredSelector(spec.selector, "deployment", path.child("selector"));
  const selector = parseSelector(spec.selector);
  if (selector === undefined) return [...errors, invalid(path.child("selector"), selectorForm(spec.selector), "invalid label selector")];
  return [
    ...errors,
    ...validateTemplateLabels(template, selector, at),
    ...validatePodTemplateSpec(template, at, context),
    ...validateEndlessPods(template.spec ?? {}, "ReplicaSet", at.child("spec")),
  ];
}

export function sortedLabels(labels: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> | undefined {
  return labels === undefined ? undefined : Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
