import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers, restoreMetadata } from "../update-rules.ts";
import { validateDriver, validateLabelText, validatePoolName } from "./device-names.ts";
import { keepTime, stampTaint, validateTaint } from "./device-taint.ts";
import type { DeviceTaint, DeviceTaintRule } from "./types.ts";

const specPath = FieldPath.root("spec");

export const deviceTaintRules = defineKind<DeviceTaintRule>({
  gvk: { group: "resource.k8s.io", version: "v1", kind: "DeviceTaintRule" },
  nameRule: subdomainName,
  generation: ({ spec }, old) => !isSemanticallyEqual("api.resource.v1.DeviceTaintRuleSpec", spec, old.spec),
  defaults: (rule, nowMs) => stampTaint(taintOf(rule), [], nowMs),
  create: {
    prepare(rule) {
      delete rule.status;
    },
    validate: validateTaintRule,
  },
  update: {
    prepare(rule, old, { nowMs }) {
      restoreMembers(rule, old, "status");
      keepTime(taintOf(rule), taintOf(old), nowMs);
    },
    validate: validateTaintRule,
    allowsUnconditional: false,
    resetFields: ["status"],
  },
  status: {
    prepare(rule, old) {
      restoreMembers(rule, old, "spec");
      restoreMetadata(rule, old);
    },
    validate: ({ status }) => validateConditions(status?.conditions, FieldPath.root("status", "conditions")),
    resetFields: ["metadata", "spec"],
  },
});

function validateTaintRule(rule: DeviceTaintRule): FieldError[] {
  const { driver, pool, device } = rule.spec?.deviceSelector ?? {};
  const path = specPath.child("deviceSelector");
  return [
    ...(driver === undefined ? [] : validateDriver(driver, path.child("driver"))),
    ...(pool === undefined ? [] : validatePoolName(pool, path.child("pool"))),
    ...(device === undefined ? [] : validateLabelText(device, path.child("device"))),
    ...validateTaint(taintOf(rule), specPath.child("taint")),
  ];
}

function taintOf(rule: DeviceTaintRule): DeviceTaint {
  rule.spec ??= {};
  return (rule.spec.taint ??= { key: "", effect: "" });
}
