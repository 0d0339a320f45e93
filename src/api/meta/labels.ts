/** Rules of labels and of objects that select by them (API reference "LabelSelector"). */
import { forbidden, invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { sortedKeys } from "../../apimachinery/json.ts";
import { isLabelValue, isQualifiedName } from "../../apimachinery/names.ts";
import type { LabelSelector, LabelSelectorRequirement } from "../meta-v1/types.ts";

/** A selector; an absent one has no faults. `allowsInvalidValues` is for updates of objects that already hold an invalid value. */
export function validateLabelSelector(selector: LabelSelector | undefined, path: FieldPath, allowsInvalidValues = false): FieldError[] {
  if (selector === undefined || selector === null) return [];
  return [
    ...validateLabels(selector.matchLabels, path.child("matchLabels")),
    ...(selector.matchExpressions ?? []).flatMap((requirement, index) =>
      validateRequirement(requirement, path.child("matchExpressions").index(index), allowsInvalidValues),
    ),
  ];
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: FieldPath): FieldError[] {
  return sortedKeys(labels ?? {}).flatMap((key) => [...validateLabelName(key, path), ...invalidEach(path, labels![key], isLabelValue(labels![key]!))]);
}

export function validateLabelName(name: string, path: FieldPath): FieldError[] {
  return invalidEach(path, name, isQualifiedName(name));
}

/** Whether a value in one of the selector's expressions is no label value. */
export function hasInvalidLabelValue(selector: LabelSelector | undefined): boolean {
  return (selector?.matchExpressions ?? []).some((requirement) => (requirement.values ?? []).some((value) => isLabelValue(value).length > 0));
}

/** Whether a selector selects everything: no labels, no expressions. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
}

function validateRequirement(requirement: LabelSelectorRequirement, path: FieldPath, allowsInvalidValues: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) errors.push(required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) errors.push(forbidden(path.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    default:
      errors.push(invalid(path.child("operator"), requirement.operator ?? "", "not a valid selector operator"));
  }
  errors.push(...validateLabelName(requirement.key ?? "", path.child("key")));
  if (!allowsInvalidValues) values.forEach((value, index) => errors.push(...invalidEach(path.child("values").index(index), value, isLabelValue(value))));
  return errors;
}
