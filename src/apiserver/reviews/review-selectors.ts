/** Selectors inside access reviews: what a list would be narrowed to (KEP-4601). */
import type { FieldSelectorAttributes, LabelSelectorAttributes, ResourceAttributes } from "../../api/authorization-v1/types.ts";
import { validateLabelSelector } from "../../api/meta/labels.ts";
import { forbidden, invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { parseFieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import type { FieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import { SelectorError, parseLabelSelector, selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import type { LabelSelector } from "../../apimachinery/selectors/label-selector.ts";

export function validateSelectors({ fieldSelector, labelSelector }: ResourceAttributes, path: FieldPath): FieldError[] {
  return [
    ...(fieldSelector === undefined ? [] : validateSelector(fieldSelector, path.child("fieldSelector"), fieldFaults)),
    ...(labelSelector === undefined ? [] : validateSelector(labelSelector, path.child("labelSelector"), labelFaults)),
  ];
}

export interface ReadSelectors {
  readonly fieldSelector?: FieldSelector;
  readonly labelSelector?: LabelSelector;
  /** What could not be read, and therefore does not narrow the question. */
  readonly errors: readonly string[];
}

export function readSelectors({ fieldSelector, labelSelector }: ResourceAttributes): ReadSelectors {
  const errors: string[] = [];
  const attempt = <T>(name: string, read: () => T | undefined): T | undefined => {
    try {
      const value = read();
      if (value !== undefined) return value;
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
    }
    errors.push(`spec.resourceAttributes.${name} ignored due to parse error`);
    return undefined;
  };
  const fields = fieldSelector && attempt("fieldSelector", () => readFields(fieldSelector));
  const labels = labelSelector && attempt("labelSelector", () => readLabels(labelSelector));
  return { ...(fields !== undefined && { fieldSelector: fields }), ...(labels !== undefined && { labelSelector: labels }), errors };
}

type Requirement = NonNullable<FieldSelectorAttributes["requirements"]>[number];

function validateSelector(
  { rawSelector = "", requirements = [] }: FieldSelectorAttributes,
  path: FieldPath,
  faults: (requirements: readonly Requirement[], path: FieldPath) => FieldError[],
): FieldError[] {
  if (rawSelector !== "" && requirements.length > 0)
    return [invalid(path.child("rawSelector"), rawSelector, "may not specified at the same time as requirements")];
  if (rawSelector === "" && requirements.length === 0)
    return [required(path.child("requirements"), `when ${path.toString()} is specified, requirements or rawSelector is required`)];
  return faults(requirements, path.child("requirements"));
}

function fieldFaults(requirements: readonly Requirement[], path: FieldPath): FieldError[] {
  return requirements.flatMap(({ key = "", operator = "", values = [] }, index) => {
    const at = path.index(index);
    const errors = key === "" ? [required(at.child("key"), "must be specified")] : [];
    if ((operator === "In" || operator === "NotIn") && values.length === 0)
      errors.push(required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
    if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0)
      errors.push(forbidden(at.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    return errors;
  });
}

/** As the expressions of any label selector, under another name. */
function labelFaults(requirements: readonly Requirement[], path: FieldPath): FieldError[] {
  const errors = validateLabelSelector(
    { matchExpressions: requirements.map(({ key = "", operator = "", values }) => ({ key, operator, ...(values !== undefined && { values }) })) },
    path,
  );
  // (The operators are not looked at here.)
  return errors
    .filter(({ field }) => !field.endsWith(".operator"))
    .map((error) => ({ ...error, field: error.field.replace("requirements.matchExpressions[", "requirements[") }));
}

function readFields({ rawSelector = "", requirements = [] }: FieldSelectorAttributes): FieldSelector | undefined {
  if (rawSelector !== "") return parseFieldSelector(rawSelector);
  const isReadable = requirements.every(({ operator, values = [] }) => (operator === "In" || operator === "NotIn") && values.length === 1);
  return isReadable ? requirements.map(({ key, operator, values }) => ({ field: key, isEqual: operator === "In", value: values![0]! })) : undefined;
}

function readLabels({ rawSelector = "", requirements = [] }: LabelSelectorAttributes): LabelSelector {
  return rawSelector === "" ? selectorFromObject({ matchExpressions: requirements }) : parseLabelSelector(rawSelector);
}
