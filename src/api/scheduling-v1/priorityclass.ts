import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import type { PriorityClass } from "./types.ts";

export const priorityClasses = defineKind<PriorityClass>({
  gvk: { group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass" },
  nameRule: subdomainName,
  // Its value cannot change, so no later generation means anything.
  generation: () => false,
  defaults(priorityClass) {
    priorityClass.preemptionPolicy ??= "PreemptLowerPriority";
  },
  create: { validate: validatePriorityClass },
  update: { validate: validatePriorityClassUpdate },
});

/** Priorities from here on are the system's. */
const highestUserPriority = 1_000_000_000;

/** The classes that every cluster has, with their values. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
]);
const policies = ["PreemptLowerPriority", "Never"];

function validatePriorityClass(priorityClass: PriorityClass): FieldError[] {
  const name = priorityClass.metadata.name ?? "";
  const value = priorityClass.value ?? 0;
  const errors: FieldError[] = [];
  if (name.startsWith("system-")) {
    const fault = systemClassFault(priorityClass, name);
    if (fault !== undefined)
      errors.push(
        forbidden(FieldPath.root("metadata", "name"), `priority class names with 'system-' prefix are reserved for system use only. error: ${fault}`),
      );
  } else if (value > highestUserPriority) {
    errors.push(forbidden(FieldPath.root("value"), `maximum allowed value of a user defined priority is ${highestUserPriority}`));
  }
  return [...errors, ...validatePreemptionPolicy(priorityClass.preemptionPolicy)];
}

function systemClassFault({ value, globalDefault }: PriorityClass, name: string): string | undefined {
  const expected = systemClasses.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault === true ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validatePriorityClassUpdate(priorityClass: PriorityClass, old: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  if ((priorityClass.value ?? 0) !== (old.value ?? 0)) errors.push(forbidden(FieldPath.root("value"), "may not be changed in an update."));
  if (priorityClass.preemptionPolicy !== old.preemptionPolicy)
    errors.push(invalid(FieldPath.root("preemptionPolicy"), priorityClass.preemptionPolicy, "field is immutable"));
  return errors;
}

function validatePreemptionPolicy(policy: string | undefined): FieldError[] {
  const path = FieldPath.root("preemptionPolicy");
  if (!policy) return [required(path)];
  return policies.includes(policy) ? [] : [notSupported(path, policy, policies)];
}
