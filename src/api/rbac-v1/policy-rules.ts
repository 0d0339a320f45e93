/** Rules of the rules that roles grant (API reference "PolicyRule"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { PolicyRule } from "./types.ts";

export function validatePolicyRules(rules: readonly PolicyRule[] | undefined, isNamespaced: boolean): FieldError[] {
  const path = FieldPath.root("rules");
  return [
    ...(rules ?? []).flatMap((rule, index) => validatePolicyRule(rule, isNamespaced, path.index(index))),
    ...(rules ?? []).flatMap(({ verbs = [] }, index) => (verbs.length === 0 ? [required(path.index(index).child("verbs"))] : [])),
  ];
}

function validatePolicyRule(rule: PolicyRule, isNamespaced: boolean, path: FieldPath): FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors: FieldError[] = [];
  if (nonResourceURLs.length > 0) {
    const urls = path.child("nonResourceURLs");
    if (isNamespaced) errors.push(invalid(urls, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"));
    if (apiGroups.length + resources.length + resourceNames.length > 0)
      errors.push(invalid(urls, nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"));
    return errors;
  }
  if (apiGroups.length === 0) errors.push(required(path.child("apiGroups"), "resource rules must supply at least one api group"));
  if (resources.length === 0) errors.push(required(path.child("resources"), "resource rules must supply at least one resource"));
  return errors;
}
