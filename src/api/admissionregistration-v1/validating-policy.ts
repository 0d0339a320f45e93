import { duplicate, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { internalForm } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { isSame, restoreMembers, restoreMetadata } from "../update-rules.ts";
import { validateExpression } from "./expressions.ts";
import { validatePolicySpec } from "./policy-rules.ts";
import { defaultMatchResources } from "./rules.ts";
import type { AuditAnnotation, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec, Validation } from "./types.ts";

const specPath = FieldPath.root("spec");

export const validatingAdmissionPolicies = defineKind<ValidatingAdmissionPolicy>({
  gvk: { group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingAdmissionPolicy" },
  nameRule: subdomainName,
  requiresQualifiedFinalizers: false,
  generation: "spec",
  defaults(policy) {
    const spec = (policy.spec ??= {});
    spec.failurePolicy ??= "Fail";
    if (spec.matchConstraints !== undefined) defaultMatchResources(spec.matchConstraints);
  },
  create: {
    prepare(policy) {
      delete policy.status;
    },
    validate: (policy, context) => validatePolicy(policy, undefined, context),
  },
  update: {
    prepare: (policy, old) => restoreMembers(policy, old, "status"),
    // A policy whose spec stays is not checked again, so that older ones can be labelled and deleted.
    validate: (policy, old, context) => (isSame(policy.spec, old.spec) ? [] : validatePolicy(policy, old, context)),
    allowsUnconditional: false,
    resetFields: ["status"],
  },
  status: {
    prepare(policy, old) {
      restoreMembers(policy, old, "spec");
      restoreMetadata(policy, old);
    },
    validate: validateStatus,
    resetFields: ["spec", "metadata"],
  },
});

const maxAuditAnnotations = 20;
const maxAuditExpressionBytes = 5 * 1024;
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

function validatePolicy(policy: ValidatingAdmissionPolicy, old: ValidatingAdmissionPolicy | undefined, context: RuleContext): FieldError[] {
  const spec = policy.spec ?? {};
  const { validations = [], auditAnnotations = [] } = spec;
  const errors = validatePolicySpec(spec, old?.spec, context, specPath);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const text = "validations or auditAnnotations must contain at least one item";
    return [...errors, required(specPath.child("validations"), text), required(specPath.child("auditAnnotations"), text)];
  }
  const validationsPath = specPath.child("validations");
  return [
    ...errors,
    ...validations.flatMap((validation, index) => validateValidation(validation, spec, context, validationsPath.index(index))),
    ...validateAuditAnnotations(policy.metadata.name ?? "", auditAnnotations, spec, context),
  ];
}

function validateValidation(
  validation: Validation,
  { paramKind, variables = [] }: ValidatingAdmissionPolicySpec,
  context: RuleContext,
  path: FieldPath,
): FieldError[] {
  const { expression = "", messageExpression = "", message = "", reason } = validation;
  const errors: FieldError[] = [];
  const check = { hasParams: paramKind !== undefined, variables };
  if (expression.trim() === "") errors.push(required(path.child("expression"), "expression is not specified"));
  else errors.push(...validateExpression(expression, { ...check, hasAuthorizer: true, returns: ["bool"] }, context, path.child("expression")));
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(invalid(path.child("messageExpression"), messageExpression, "must be non-empty if specified"));
  else if (messageExpression !== "")
    errors.push(...validateExpression(messageExpression, { ...check, hasAuthorizer: false, returns: ["string"] }, context, path.child("messageExpression")));
  if (message !== "" && message.trim() === "") errors.push(invalid(path.child("message"), message, "must be non-empty if specified"));
  else if (/[\n\r]/.test(message.trim())) errors.push(invalid(path.child("message"), message, "must not contain line breaks"));
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(path.child("reason"), reason, reasons));
  return errors;
}

function validateAuditAnnotations(
  policyName: string,
  annotations: readonly AuditAnnotation[],
  spec: ValidatingAdmissionPolicySpec,
  context: RuleContext,
): FieldError[] {
  const path = specPath.child("auditAnnotations");
  const errors: FieldError[] = [];
  if (annotations.length > maxAuditAnnotations) {
    const shown = annotations.map((annotation) => internalForm("api.admissionregistration.v1.AuditAnnotation", annotation));
    errors.push(invalid(path, shown, `must not have more than ${maxAuditAnnotations} auditAnnotations`));
  }
  const seen = new Set<string>();
  annotations.forEach(({ key = "", valueExpression = "" }, index) => {
    const at = path.index(index);
    // The key stands behind the policy's name in the audit log.
    const full = policyName === "" ? key : `${policyName}/${key}`;
    errors.push(...invalidEach(at.child("key"), full, isQualifiedName(full)));
    const valuePath = at.child("valueExpression");
    if (valueExpression.trim() === "") errors.push(required(valuePath, "valueExpression is not specified"));
    else if (byteLength(valueExpression.trim()) > maxAuditExpressionBytes)
      errors.push(required(valuePath, `must not exceed ${maxAuditExpressionBytes} bytes in length`));
    else
      errors.push(
        ...validateExpression(
          valueExpression,
          { hasParams: spec.paramKind !== undefined, hasAuthorizer: true, variables: spec.variables ?? [], returns: ["string", "null_type"] },
          context,
          valuePath,
        ),
      );
    if (seen.has(key)) errors.push(duplicate(at.child("key"), key));
    seen.add(key);
  });
  return errors;
}

function validateStatus({ status }: ValidatingAdmissionPolicy): FieldError[] {
  const path = FieldPath.root("status");
  const warningsPath = path.child("typeChecking", "expressionWarnings");
  const warnings = (status?.typeChecking?.expressionWarnings ?? []).flatMap(({ fieldRef, warning }, index) => [
    ...(warning ? [] : [required(warningsPath.index(index).child("warning"))]),
    ...(fieldRef ? [] : [required(warningsPath.index(index).child("fieldRef"))]),
  ]);
  const conditionsPath = path.child("conditions");
  const conditions = status?.conditions ?? [];
  // A type that is missing is told once, in other words than elsewhere.
  const missing = new Map(
    conditions.flatMap(({ type }, index) =>
      type ? [] : [[String(conditionsPath.index(index).child("type")), required(conditionsPath.index(index).child("type"), "is required")] as const],
    ),
  );
  const faults = validateConditions(conditions, conditionsPath).map((fault) => missing.get(fault.field) ?? fault);
  return [...warnings, ...new Set(faults)];
}
