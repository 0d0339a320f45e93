/** Bindings of admission policies: where a policy applies, and with what parameters. */
import { duplicate, forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, pathSegmentName, subdomainName } from "../../apimachinery/names.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import { defineKind } from "../strategy.ts";
import { defaultMatchResources, validateMatchResources, validateMutatingOperations } from "./rules.ts";
import type { MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec, ParamRef, ValidatingAdmissionPolicyBinding } from "./types.ts";

const specPath = FieldPath.root("spec");

export const validatingAdmissionPolicyBindings = defineKind<ValidatingAdmissionPolicyBinding>({
  gvk: { group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingAdmissionPolicyBinding" },
  nameRule: subdomainName,
  requiresQualifiedFinalizers: false,
  generation: "spec",
  defaults: defaultBinding,
  create: { validate: validateValidatingBinding },
  update: { validate: validateValidatingBinding, allowsUnconditional: false },
});

export const mutatingAdmissionPolicyBindings = defineKind<MutatingAdmissionPolicyBinding>({
  gvk: { group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingAdmissionPolicyBinding" },
  nameRule: subdomainName,
  requiresQualifiedFinalizers: false,
  generation: "spec",
  defaults: defaultBinding,
  create: { validate: validateMutatingBinding },
  update: { validate: validateMutatingBinding, allowsUnconditional: false },
});

function defaultBinding({ spec }: MutatingAdmissionPolicyBinding | ValidatingAdmissionPolicyBinding): void {
  if (spec?.matchResources !== undefined) defaultMatchResources(spec.matchResources);
}

function validateMutatingBinding({ spec = {} }: MutatingAdmissionPolicyBinding): FieldError[] {
  return [...validateSpec(spec), ...validateMutatingOperations(spec.matchResources ?? {}, specPath.child("matchResources"))];
}

function validateValidatingBinding({ spec = {} }: ValidatingAdmissionPolicyBinding): FieldError[] {
  return [...validateSpec(spec), ...validateActions(spec.validationActions ?? [], specPath.child("validationActions"))];
}

function validateSpec({ policyName = "", paramRef, matchResources }: MutatingAdmissionPolicyBindingSpec): FieldError[] {
  const path = specPath.child("policyName");
  return [
    ...(policyName === "" ? [required(path)] : invalidEach(path, policyName, isDns1123Subdomain(policyName))),
    ...(paramRef === undefined ? [] : validateParamRef(paramRef, specPath.child("paramRef"))),
    ...(matchResources === undefined ? [] : validateMatchResources(matchResources, specPath.child("matchResources"))),
  ];
}

const notFoundActions = ["Deny", "Allow"];
const exclusive = "name and selector are mutually exclusive";

function validateParamRef({ name = "", selector, parameterNotFoundAction: action }: ParamRef, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (name !== "") {
    errors.push(...invalidEach(path.child("name"), name, pathSegmentName(name)));
    if (selector !== undefined) errors.push(forbidden(path.child("name"), exclusive));
  }
  if (selector !== undefined) {
    errors.push(...validateLabelSelector(selector, path.child("selector")));
    if (name !== "") errors.push(forbidden(path.child("selector"), exclusive));
  }
  if (name === "" && selector === undefined) errors.push(required(path, "one of name or selector must be specified"));
  const actionPath = path.child("parameterNotFoundAction");
  if (!action) errors.push(required(actionPath));
  else if (!notFoundActions.includes(action)) errors.push(notSupported(actionPath, action, notFoundActions));
  return errors;
}

const validationActions = ["Audit", "Deny", "Warn"];

function validateActions(actions: readonly string[], path: FieldPath): FieldError[] {
  if (actions.length === 0) return [required(path)];
  const seen = new Set<string>();
  const errors = actions.flatMap((action, index) => {
    const faults = validationActions.includes(action) ? [] : [notSupported(path.index(index), action, validationActions)];
    if (seen.has(action)) faults.push(duplicate(path.index(index), action));
    seen.add(action);
    return faults;
  });
  if (seen.has("Deny") && seen.has("Warn")) {
    errors.push(
      invalid(
        path,
        actions,
        "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
      ),
    );
  }
  return errors;
}
