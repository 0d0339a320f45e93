import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import { defineKind } from "../strategy.ts";
import { validatePolicyRules } from "./policy-rules.ts";
import type { AggregationRule, ClusterRole } from "./types.ts";

export const clusterRoles = defineKind<ClusterRole>({
  gvk: { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" },
  nameRule: pathSegmentName,
  generation: "none",
  create: { validate: validateClusterRole },
  update: { validate: validateClusterRole, allowsCreate: true },
});

function validateClusterRole(role: ClusterRole): FieldError[] {
  const rules = validatePolicyRules(role.rules, false);
  return role.aggregationRule === undefined ? rules : [...rules, ...validateAggregation(role.aggregationRule)];
}

function validateAggregation({ clusterRoleSelectors = [] }: AggregationRule): FieldError[] {
  const path = FieldPath.root("aggregationRule", "clusterRoleSelectors");
  if (clusterRoleSelectors.length === 0) return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  return clusterRoleSelectors.flatMap((selector, index) => {
    const errors = validateLabelSelector(selector, path.index(index));
    return errors.length === 0 ? [] : [...errors, invalid(path.index(index), null, "invalid label selector.")];
  });
}
