/** Rules that groups of pods share, of one level or several (KEP-4671). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { isDns1123Label, isDns1123Subdomain } from "../../apimachinery/names.ts";
import { validateLabelName } from "../meta/labels.ts";
import { validateUnion } from "../meta/union.ts";
import { typeRegistry } from "../registry.ts";
import type { PodGroupResourceClaim, PodGroupSchedulingPolicy, PodGroupTemplate, TopologyConstraint, WorkloadReference } from "./types.ts";

/** What groups of pods and groups of groups have in common. */
export interface GroupSettings {
  readonly schedulingPolicy?: { basic?: object; gang?: { minCount?: number; minGroupCount?: number } };
  readonly schedulingConstraints?: { topology?: TopologyConstraint[] };
  disruptionMode?: { single?: object; all?: object };
  readonly priorityClassName?: string;
  preemptionPolicy?: string;
}

const preemptionPolicies = ["Never", "PreemptLowerPriority"];

export function defaultGroup(spec: GroupSettings): void {
  spec.disruptionMode ??= { single: {} };
  spec.preemptionPolicy ??= "PreemptLowerPriority";
}

/** `minimum`: the field that says how many members a gang has at least. */
export function validateGroup(spec: GroupSettings, minimum: "minCount" | "minGroupCount", path: FieldPath): FieldError[] {
  const { disruptionMode, preemptionPolicy, priorityClassName = "" } = spec;
  return [
    ...validatePolicy(spec.schedulingPolicy, minimum, path.child("schedulingPolicy")),
    ...validateTopology(spec.schedulingConstraints?.topology ?? [], path.child("schedulingConstraints", "topology")),
    ...(disruptionMode === undefined ? [] : validateUnion(disruptionMode, ["single", "all"], path.child("disruptionMode"))),
    ...(priorityClassName === "" ? [] : invalidEach(path.child("priorityClassName"), priorityClassName, isDns1123Subdomain(priorityClassName))),
    ...(preemptionPolicy === undefined || preemptionPolicies.includes(preemptionPolicy)
      ? []
      : [notSupported(path.child("preemptionPolicy"), preemptionPolicy, preemptionPolicies)]),
  ];
}

function validatePolicy(policy: PodGroupSchedulingPolicy | undefined, minimum: "minCount" | "minGroupCount", path: FieldPath): FieldError[] {
  const errors = validateUnion(policy, ["basic", "gang"], path);
  const gang = policy?.gang as Record<string, number | undefined> | undefined;
  if (gang === undefined) return errors;
  const count = gang[minimum] ?? 0;
  if (count === 0) errors.push(required(path.child("gang", minimum)));
  else if (count < 0) errors.push(invalid(path.child("gang", minimum), count, "must be greater than or equal to 1"));
  return errors;
}

function validateTopology(topology: readonly TopologyConstraint[], path: FieldPath): FieldError[] {
  return topology.flatMap(({ key = "" }, index) =>
    key === "" ? [required(path.index(index).child("key"))] : validateLabelName(key, path.index(index).child("key")),
  );
}

export function validateWorkloadReference(reference: WorkloadReference, path: FieldPath): FieldError[] {
  const { workloadName = "", templateName = "" } = reference;
  return [
    ...(workloadName === "" ? [required(path.child("workloadName"))] : invalidEach(path.child("workloadName"), workloadName, isDns1123Subdomain(workloadName))),
    ...(templateName === "" ? [required(path.child("templateName"))] : invalidEach(path.child("templateName"), templateName, isDns1123Label(templateName))),
  ];
}

export function validateGroupClaims(claims: readonly PodGroupResourceClaim[], path: FieldPath): FieldError[] {
  const names = new Set<string>();
  return claims.flatMap((claim, index) => {
    const { name = "" } = claim;
    const at = path.index(index);
    const errors = names.has(name) ? [duplicate(at.child("name"), name)] : [];
    names.add(name);
    return [
      ...errors,
      ...(name === "" ? [required(at.child("name"))] : invalidEach(at.child("name"), name, isDns1123Label(name))),
      ...validateUnion(claim, ["resourceClaimName", "resourceClaimTemplateName"], at),
    ];
  });
}

export function validateTemplates(templates: readonly PodGroupTemplate[], path: FieldPath): FieldError[] {
  const names = new Set<string>();
  const duplicates = templates.flatMap((template, index) => {
    const isTaken = names.has(template.name ?? "");
    names.add(template.name ?? "");
    return isTaken ? [duplicate(path.index(index), shownTemplate(template))] : [];
  });
  const faults = templates.flatMap((template, index) => {
    const { name = "" } = template;
    const at = path.index(index);
    return [
      ...(name === "" ? [required(at.child("name"))] : invalidEach(at.child("name"), name, isDns1123Label(name))),
      ...validateGroup(template, "minCount", at),
      ...validateGroupClaims(template.resourceClaims ?? [], at.child("resourceClaims")),
    ];
  });
  return [...duplicates, ...faults];
}

const templateSchema = typeRegistry.struct("api.scheduling.v1beta1.PodGroupTemplate")!;

/** A template as its JSON has it, null members included. */
function shownTemplate(template: PodGroupTemplate): unknown {
  return canonicalize(template as unknown as JsonObject, templateSchema);
}
