/** Rules of what steers the scheduler: affinity, tolerations, spreading, gates. */
import { duplicate, invalid, invalidEach, forbidden, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isDns1123Label, isLabelValue, isQualifiedName } from "../../../apimachinery/names.ts";
import type { LabelSelector } from "../../meta-v1/types.ts";
import { validateLabelName, validateLabelSelector } from "../../meta/labels.ts";
import { validateNodeSelector, validateNodeSelectorTerm } from "../node-selector.ts";
import type { Affinity, PodAffinityTerm, PodSchedulingGate, Toleration, TopologySpreadConstraint } from "../types.ts";

const requiredRules = "requiredDuringSchedulingIgnoredDuringExecution";
const preferredRules = "preferredDuringSchedulingIgnoredDuringExecution";

export function validateAffinity(affinity: Affinity, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const nodePath = path.child("nodeAffinity");
  const { nodeAffinity } = affinity;
  if (nodeAffinity?.[requiredRules] !== undefined) errors.push(...validateNodeSelector(nodeAffinity[requiredRules], nodePath.child(requiredRules)));
  (nodeAffinity?.[preferredRules] ?? []).forEach(({ weight, preference }, index) => {
    const at = nodePath.child(preferredRules).index(index);
    errors.push(...validateWeight(weight, at), ...validateNodeSelectorTerm(preference ?? {}, at.child("preference"), true));
  });
  for (const kind of ["podAffinity", "podAntiAffinity"] as const) {
    const at = path.child(kind);
    (affinity[kind]?.[requiredRules] ?? []).forEach((term, index) => errors.push(...validatePodAffinityTerm(term, at.child(requiredRules).index(index))));
    (affinity[kind]?.[preferredRules] ?? []).forEach(({ weight, podAffinityTerm }, index) => {
      const item = at.child(preferredRules).index(index);
      errors.push(...validateWeight(weight, item), ...validatePodAffinityTerm(podAffinityTerm ?? { topologyKey: "" }, item.child("podAffinityTerm")));
    });
  }
  return errors;
}

function validateWeight(weight: number | undefined, path: FieldPath): FieldError[] {
  const value = weight ?? 0;
  return value >= 1 && value <= 100 ? [] : [invalid(path.child("weight"), value, "must be in the range 1-100")];
}

function validatePodAffinityTerm(term: PodAffinityTerm, path: FieldPath): FieldError[] {
  const { labelSelector, namespaceSelector, namespaces = [], matchLabelKeys = [], mismatchLabelKeys = [], topologyKey = "" } = term;
  return [
    ...validateLabelSelector(labelSelector, path.child("labelSelector")),
    ...validateLabelSelector(namespaceSelector, path.child("namespaceSelector")),
    ...namespaces.flatMap((name) => invalidEach(path.child("namespace"), name, isDns1123Label(name))),
    ...validateLabelKeys(matchLabelKeys, labelSelector, path.child("matchLabelKeys")),
    ...validateLabelKeys(mismatchLabelKeys, labelSelector, path.child("mismatchLabelKeys")),
    ...matchLabelKeys.flatMap((key, index) =>
      mismatchLabelKeys.includes(key) ? [invalid(path.child("matchLabelKeys").index(index), key, "exists in both matchLabelKeys and mismatchLabelKeys")] : [],
    ),
    ...(topologyKey === "" ? [required(path.child("topologyKey"), "can not be empty")] : []),
    ...validateLabelName(topologyKey, path.child("topologyKey")),
  ];
}

function validateLabelKeys(keys: readonly string[], selector: LabelSelector | undefined, path: FieldPath): FieldError[] {
  if (keys.length === 0) return [];
  const errors = selector === undefined ? [forbidden(path, "must not be specified when labelSelector is not set")] : [];
  return [...errors, ...keys.flatMap((key, index) => validateLabelName(key, path.index(index)))];
}

export const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function validateTolerations(tolerations: readonly Toleration[], path: FieldPath, allowsComparisons = false): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const at = path.index(index);
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
    const errors = key === "" ? [] : validateLabelName(key, at.child("key"));
    if (key === "" && operator !== "Exists")
      errors.push(invalid(at.child("operator"), operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'));
    if (tolerationSeconds !== undefined && effect !== "NoExecute")
      errors.push(invalid(at.child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    errors.push(...validateTolerationOperator(operator, value, at.child("operator"), allowsComparisons));
    if (effect !== "" && !taintEffects.includes(effect)) errors.push(notSupported(at.child("effect"), effect, taintEffects));
    return errors;
  });
}

function validateTolerationOperator(operator: string, value: string, path: FieldPath, allowsComparisons: boolean): FieldError[] {
  switch (operator) {
    case "":
    case "Equal": {
      const faults = isLabelValue(value);
      return faults.length === 0 ? [] : [invalid(path, value, faults.join(";"))];
    }
    case "Exists":
      return value === "" ? [] : [invalid(path, value, "value must be empty when `operator` is 'Exists'")];
    case "Lt":
    case "Gt":
      if (!allowsComparisons) return [notSupported(path, operator, ["Equal", "Exists", "Lt", "Gt"])];
      return /^(0|-?[1-9]\d{0,18})$/.test(value) ? [] : [invalid(path, value, `value must be an integer when \`operator\` is '${operator}'`)];
    default:
      return [notSupported(path, operator, allowsComparisons ? ["Equal", "Exists", "Lt", "Gt"] : ["Equal", "Exists"])];
  }
}

export function validateSpreadConstraints(constraints: readonly TopologySpreadConstraint[], path: FieldPath): FieldError[] {
  return constraints.flatMap((constraint, index) => {
    const at = path.index(index);
    const { maxSkew = 0, topologyKey = "", whenUnsatisfiable = "", minDomains, matchLabelKeys = [], labelSelector } = constraint;
    const errors: FieldError[] = [];
    if (maxSkew <= 0) errors.push(invalid(at.child("maxSkew"), maxSkew, "must be greater than zero"));
    if (topologyKey === "") errors.push(required(at.child("topologyKey"), "can not be empty"));
    if (!["DoNotSchedule", "ScheduleAnyway"].includes(whenUnsatisfiable))
      errors.push(notSupported(at.child("whenUnsatisfiable"), whenUnsatisfiable, ["DoNotSchedule", "ScheduleAnyway"]));
    const isRepeated = constraints.slice(index + 1).some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable);
    if (isRepeated) errors.push(duplicate(at.child("{topologyKey, whenUnsatisfiable}"), `{${topologyKey}, ${whenUnsatisfiable}}`));
    if (minDomains !== undefined) {
      if (minDomains <= 0) errors.push(invalid(at.child("minDomains"), minDomains, "must be greater than zero"));
      if (whenUnsatisfiable !== "DoNotSchedule")
        errors.push(invalid(at.child("minDomains"), minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`));
    }
    for (const policy of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
      const value = constraint[policy];
      if (value !== undefined && !["Honor", "Ignore"].includes(value)) errors.push(notSupported(at.child(policy), value, ["Honor", "Ignore"]));
    }
    return [
      ...errors,
      ...validateLabelKeys(matchLabelKeys, labelSelector, at.child("matchLabelKeys")),
      ...validateLabelSelector(labelSelector, at.child("labelSelector")),
    ];
  });
}

export function validateSchedulingGates(gates: readonly PodSchedulingGate[], path: FieldPath): FieldError[] {
  const names = new Set<string>();
  return gates.flatMap(({ name = "" }, index) => {
    const errors = invalidEach(path.index(index), name, isQualifiedName(name));
    if (names.has(name)) errors.push(duplicate(path.index(index), name));
    names.add(name);
    return errors;
  });
}
