/** PodGroup: pods that are scheduled together. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { defineKind } from "../strategy.ts";
import { immutable, restoreMembers, restoreMetadata } from "../update-rules.ts";
import { defaultGroup, validateGroup, validateGroupClaims, validateWorkloadReference } from "./pod-group-rules.ts";
import type { PodGroup } from "./types.ts";

const specPath = FieldPath.root("spec");

export const podGroups = defineKind<PodGroup>({
  gvk: { group: "scheduling.k8s.io", version: "v1beta1", kind: "PodGroup" },
  nameRule: subdomainName,
  generation: "none",
  defaults: (group) => defaultGroup((group.spec ??= {})),
  create: {
    prepare(group) {
      delete group.status;
    },
    validate: validatePodGroup,
  },
  update: {
    prepare: (group, old) => restoreMembers(group, old, "status"),
    validate: (group, old) => [
      ...validatePodGroup(group),
      ...["workloadRef", "resourceClaims", "schedulingConstraints"].flatMap((name) => immutable(specPath.child(name), member(group, name), member(old, name))),
    ],
    allowsUnconditional: false,
    resetFields: ["status"],
  },
  status: {
    prepare(group, old) {
      restoreMembers(group, old, "spec");
      restoreMetadata(group, old);
    },
    validate: ({ status }) => validateConditions(status?.conditions, FieldPath.root("status", "conditions")),
    resetFields: ["metadata", "spec"],
  },
});

const member = (group: PodGroup, name: string) => (group.spec as Record<string, unknown> | undefined)?.[name];

function validatePodGroup({ spec = {} }: PodGroup): FieldError[] {
  return [
    ...validateGroup(spec, "minCount", specPath),
    ...(spec.workloadRef === undefined ? [] : validateWorkloadReference(spec.workloadRef, specPath.child("workloadRef"))),
    ...validateGroupClaims(spec.resourceClaims ?? [], specPath.child("resourceClaims")),
  ];
}
