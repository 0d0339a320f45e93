/** Rules of what failed pods mean for a Job (KEP-3329). */
import { duplicate, invalid, invalidWithoutValue, notSupported, required, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { validateLabelName } from "../meta/labels.ts";
import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from "./types.ts";

const maxRules = 20;
const maxExitCodes = 255;
const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];

export function validateFailurePolicy(spec: JobSpec, { rules = [] }: PodFailurePolicy, path: FieldPath): FieldError[] {
  const at = path.child("rules");
  const { containers = [], initContainers = [] } = spec.template.spec ?? {};
  const names = new Set([...containers, ...initContainers].map(({ name }) => name));
  return [
    ...(rules.length > maxRules ? [tooMany(at, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, index) => validateRule(rule, spec, names, at.index(index))),
  ];
}

function validateRule(
  { action = "", onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  spec: JobSpec,
  containerNames: ReadonlySet<string>,
  path: FieldPath,
): FieldError[] {
  const errors = validateWord(action, actions, path.child("action"));
  if (action === "FailIndex" && spec.backoffLimitPerIndex === undefined)
    errors.push(invalid(path.child("action"), action, "requires the backoffLimitPerIndex to be set"));
  if (onExitCodes !== undefined) errors.push(...validateExitCodes(onExitCodes, containerNames, path.child("onExitCodes")));
  errors.push(...onPodConditions.flatMap((pattern, index) => validateCondition(pattern, path.child("onPodConditions").index(index))));
  if (onExitCodes !== undefined && onPodConditions.length > 0)
    errors.push(invalidWithoutValue(path, "specifying both OnExitCodes and OnPodConditions is not supported"));
  if (onExitCodes === undefined && onPodConditions.length === 0)
    errors.push(invalidWithoutValue(path, "specifying one of OnExitCodes and OnPodConditions is required"));
  return errors;
}

function validateExitCodes(
  { operator = "", containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  containerNames: ReadonlySet<string>,
  path: FieldPath,
): FieldError[] {
  const errors = validateWord(operator, operators, path.child("operator"));
  if (containerName !== undefined && !containerNames.has(containerName)) {
    errors.push(invalid(path.child("containerName"), containerName, "must be one of the container or initContainer names in the pod template"));
  }
  const at = path.child("values");
  const codes = values ?? [];
  if (codes.length === 0) errors.push(invalid(at, values, "at least one value is required"));
  else if (codes.length > maxExitCodes) errors.push(tooMany(at, codes.length, maxExitCodes));
  const seen = new Set<number>();
  codes.forEach((code, index) => {
    if (operator === "In" && code === 0) errors.push(invalid(at.index(index), code, "must not be 0 for the In operator"));
    if (seen.has(code)) errors.push(duplicate(at.index(index), code));
    seen.add(code);
  });
  if (codes.some((code, index) => index > 0 && codes[index - 1]! > code)) errors.push(invalid(at, codes, "must be ordered"));
  return errors;
}

function validateCondition({ type = "", status = "" }: PodFailurePolicyOnPodConditionsPattern, path: FieldPath): FieldError[] {
  return [...validateLabelName(type, path.child("type")), ...validateWord(status, statuses, path.child("status"))];
}

/** One of a few words; Go prints the list of them in brackets when there is none. */
function validateWord(word: string, supported: readonly string[], path: FieldPath): FieldError[] {
  if (word === "") return [required(path, `valid values: [${supported.map((value) => JSON.stringify(value)).join(" ")}]`)];
  return supported.includes(word) ? [] : [notSupported(path, word, supported)];
}
