/** CompositePodGroup: groups of groups of pods. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { age, nameOf } from "../cells.ts";
import { validateConditions } from "../meta/conditions.ts";
import { policyText } from "../scheduling-v1beta1/columns.ts";
import { defaultGroup, validateGroup, validateWorkloadReference } from "../scheduling-v1beta1/pod-group-rules.ts";
import { defineKind } from "../strategy.ts";
import type { TablePrinter } from "../table.ts";
import { immutable, restoreMembers, restoreMetadata } from "../update-rules.ts";
import type { CompositePodGroup } from "./types.ts";

const specPath = FieldPath.root("spec");

export const compositePodGroups = defineKind<CompositePodGroup>({
  gvk: { group: "scheduling.k8s.io", version: "v1alpha3", kind: "CompositePodGroup" },
  nameRule: subdomainName,
  generation: "none",
  defaults: (group) => defaultGroup((group.spec ??= {})),
  create: {
    prepare(group) {
      delete group.status;
    },
    validate: validateCompositePodGroup,
  },
  update: {
    prepare: (group, old) => restoreMembers(group, old, "status"),
    validate: (group, old) => [
      ...validateCompositePodGroup(group),
      ...immutable(specPath.child("workloadRef"), group.spec?.workloadRef, old.spec?.workloadRef),
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

function validateCompositePodGroup({ spec = {} }: CompositePodGroup): FieldError[] {
  const path = specPath.child("workloadRef");
  const { workloadRef } = spec;
  return [...(workloadRef === undefined ? [required(path)] : validateWorkloadReference(workloadRef, path)), ...validateGroup(spec, "minGroupCount", specPath)];
}

export const compositePodGroupColumns: TablePrinter<CompositePodGroup> = {
  cells: (group, context) => [nameOf(group), policyText(group.spec?.schedulingPolicy), group.spec?.workloadRef?.workloadName ?? "<none>", age(group, context)],
};
