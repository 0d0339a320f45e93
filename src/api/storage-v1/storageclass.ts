import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { isQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from "../core-v1/types.ts";
import { nodeLabelDeprecation } from "../deprecated-node-labels.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import { validateDriverName, validateParameters } from "./parameters.ts";
import type { StorageClass } from "./types.ts";

export const storageClasses = defineKind<StorageClass>({
  gvk: { group: "storage.k8s.io", version: "v1", kind: "StorageClass" },
  nameRule: subdomainName,
  generation: "none",
  defaults(storageClass) {
    storageClass.reclaimPolicy ??= "Delete";
    storageClass.volumeBindingMode ??= "Immediate";
  },
  create: { validate: validateStorageClass, warnings: topologyWarnings },
  update: { validate: validateStorageClassUpdate, warnings: topologyWarnings },
  delete: { answer: "object" },
});

const reclaimPolicies = ["Delete", "Retain"];
const bindingModes = ["Immediate", "WaitForFirstConsumer"];

function validateStorageClass(storageClass: StorageClass): FieldError[] {
  const { provisioner = "", parameters = {}, reclaimPolicy = "", volumeBindingMode, allowedTopologies = [] } = storageClass;
  const errors: FieldError[] = [];
  if (provisioner !== "") errors.push(...validateDriverName(provisioner, FieldPath.root("provisioner")));
  errors.push(...validateParameters(parameters, FieldPath.root("parameters"), true));
  if (reclaimPolicy !== "" && !reclaimPolicies.includes(reclaimPolicy))
    errors.push(notSupported(FieldPath.root("reclaimPolicy"), reclaimPolicy, reclaimPolicies));
  if (volumeBindingMode === undefined) errors.push(required(FieldPath.root("volumeBindingMode")));
  else if (!bindingModes.includes(volumeBindingMode)) errors.push(notSupported(FieldPath.root("volumeBindingMode"), volumeBindingMode, bindingModes));
  errors.push(...validateTopologies(allowedTopologies, FieldPath.root("allowedTopologies")));
  if (provisioner === "") errors.push(required(FieldPath.root("provisioner")));
  return errors;
}

function validateStorageClassUpdate(storageClass: StorageClass, old: StorageClass): FieldError[] {
  const fixed = (["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const).flatMap((name) =>
    immutable(FieldPath.root(name), storageClass[name], old[name], null),
  );
  return [...validateStorageClass(storageClass), ...fixed];
}

/** No two terms may ask for the same, and none for nothing: an empty one equals each place that upstream keeps for a term. */
function validateTopologies(terms: readonly TopologySelectorTerm[], path: FieldPath): FieldError[] {
  const seen: Record<string, string[]>[] = terms.map(() => ({}));
  return terms.flatMap((term, index) => {
    const at = path.index(index).child("matchLabelExpressions");
    const wanted: Record<string, string[]> = {};
    const errors = (term.matchLabelExpressions ?? []).flatMap((requirement, place) => {
      const faults = validateTopologyRequirement(requirement, at.index(place));
      if (Object.hasOwn(wanted, requirement.key)) faults.push(duplicate(at.index(place).child("key"), requirement.key));
      wanted[requirement.key] = [...new Set(requirement.values ?? [])].sort();
      return faults;
    });
    for (const other of seen) if (deepEqual(other, wanted)) errors.push(duplicate(at, ""));
    seen.push(wanted);
    return errors;
  });
}

function validateTopologyRequirement({ key, values = [] }: TopologySelectorLabelRequirement, path: FieldPath): FieldError[] {
  const errors = values.length === 0 ? [required(path.child("values"))] : [];
  values.forEach((value, index) => {
    if (values.indexOf(value) < index) errors.push(duplicate(path.child("values").index(index), value));
  });
  return [...errors, ...invalidEach(path.child("key"), key ?? "", isQualifiedName(key ?? ""))];
}

function topologyWarnings({ allowedTopologies = [] }: StorageClass): string[] {
  return allowedTopologies.flatMap((term, index) =>
    (term.matchLabelExpressions ?? []).flatMap(({ key }, place) => {
      const deprecation = nodeLabelDeprecation(key);
      const path = FieldPath.root("allowedTopologies").index(index).child("matchLabelExpressions").index(place).child("key");
      return deprecation === undefined ? [] : [`${path}: ${deprecation}`];
    }),
  );
}
