import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, notSupported } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { internalForm } from "../meta/internal-form.ts";
import { hasInvalidLabelValue, validateLabelSelector } from "../meta/labels.ts";
import { validateAtMostWhole, validateNumberOrPercent } from "../meta/number-or-percent.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "./types.ts";

export const podDisruptionBudgets = defineKind<PodDisruptionBudget>({
  gvk: { group: "policy", version: "v1", kind: "PodDisruptionBudget" },
  nameRule: pathSegmentName,
  generation: "spec",
  create: {
    prepare(budget) {
      delete budget.status;
    },
    validate: (budget) => validateBudget(budget, false),
  },
  update: {
    prepare: (budget, old) => restoreMembers(budget, old, "status"),
    validate: (budget, old) => validateBudget(budget, hasInvalidLabelValue(old.spec?.selector)),
    resetFields: ["status"],
    allowsUnconditional: false,
  },
  status: {
    prepare: (budget, old) => restoreMembers(budget, old, "spec"),
    validate: (budget) => validateStatus(budget.status ?? {}),
    resetFields: ["spec"],
  },
});

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

function validateBudget({ spec = {} }: PodDisruptionBudget, allowsInvalidValues: boolean): FieldError[] {
  const path = FieldPath.root("spec");
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalid(path, internalForm("api.policy.v1.PodDisruptionBudgetSpec", spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  if (minAvailable !== undefined)
    errors.push(...validateNumberOrPercent(minAvailable, path.child("minAvailable")), ...validateAtMostWhole(minAvailable, path.child("minAvailable")));
  if (maxUnavailable !== undefined)
    errors.push(...validateNumberOrPercent(maxUnavailable, path.child("maxUnavailable")), ...validateAtMostWhole(maxUnavailable, path.child("maxUnavailable")));
  errors.push(...validateLabelSelector(selector, path.child("selector"), allowsInvalidValues));
  if (unhealthyPodEvictionPolicy !== undefined && !evictionPolicies.includes(unhealthyPodEvictionPolicy)) {
    errors.push(notSupported(path.child("unhealthyPodEvictionPolicy"), unhealthyPodEvictionPolicy, evictionPolicies));
  }
  return errors;
}

function validateStatus(status: PodDisruptionBudgetStatus): FieldError[] {
  const path = FieldPath.root("status");
  const counts = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;
  const negative = counts
    .filter((name) => (status[name] ?? 0) < 0)
    .map((name) => invalid(path.child(name), status[name], "must be greater than or equal to 0"));
  return [...validateConditions(status.conditions, path.child("conditions")), ...negative];
}
