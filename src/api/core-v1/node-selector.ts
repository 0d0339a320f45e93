/** Rules of node selectors, in pods and in PersistentVolumes. */
import { forbidden, invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, isLabelValue } from "../../apimachinery/names.ts";
import { nodeLabelDeprecation } from "../deprecated-node-labels.ts";
import { validateLabelName } from "../meta/labels.ts";
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "./types.ts";

export function validateNodeSelector({ nodeSelectorTerms = [] }: NodeSelector, path: FieldPath): FieldError[] {
  const at = path.child("nodeSelectorTerms");
  if (nodeSelectorTerms.length === 0) return [required(at, "must have at least one node selector term")];
  return nodeSelectorTerms.flatMap((term, index) => validateNodeSelectorTerm(term, at.index(index)));
}

/** `allowsInvalidValues`: preferences have never had their values checked. */
export function validateNodeSelectorTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  path: FieldPath,
  allowsInvalidValues = false,
): FieldError[] {
  return [
    ...matchExpressions.flatMap((requirement, index) => validateExpression(requirement, path.child("matchExpressions").index(index), allowsInvalidValues)),
    ...matchFields.flatMap((requirement, index) => validateFieldRequirement(requirement, path.child("matchFields").index(index))),
  ];
}

function validateExpression({ key = "", operator = "", values = [] }: NodeSelectorRequirement, path: FieldPath, allowsInvalidValues: boolean): FieldError[] {
  const errors: FieldError[] = [];
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) errors.push(required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) errors.push(forbidden(path.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) errors.push(required(path.child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      break;
    default:
      errors.push(invalid(path.child("operator"), operator, "not a valid selector operator"));
  }
  errors.push(...validateLabelName(key, path.child("key")));
  if (!allowsInvalidValues) values.forEach((value, index) => errors.push(...invalidEach(path.child("values").index(index), value, isLabelValue(value))));
  return errors;
}

/** Nodes can be selected by one field only: their name. */
function validateFieldRequirement({ key = "", operator = "", values = [] }: NodeSelectorRequirement, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn") errors.push(invalid(path.child("operator"), operator, "not a valid selector operator"));
  else if (values.length !== 1)
    errors.push(required(path.child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  if (key !== "metadata.name") errors.push(invalid(path.child("key"), key, "not a valid field selector key"));
  else values.forEach((value, index) => errors.push(...invalidEach(path.child("values").index(index), value, isDns1123Subdomain(value))));
  return errors;
}

/** Warnings about labels that have a successor. */
export function nodeSelectorTermWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: FieldPath): string[] {
  return matchExpressions.flatMap(({ key }, index) => {
    const deprecation = nodeLabelDeprecation(key);
    return deprecation === undefined ? [] : [`${path.child("matchExpressions").index(index).child("key")}: ${key} is ${deprecation}`];
  });
}
