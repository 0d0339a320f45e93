/** Rules of what requests a webhook or a policy looks at (API reference "RuleWithOperations v1 admissionregistration.k8s.io"). */
import { duplicate, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import type { MatchResources, NamedRuleWithOperations, RuleWithOperations } from "./types.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const scopes = ["*", "Cluster", "Namespaced"];
export const matchPolicies = ["Equivalent", "Exact"];

export function defaultRules(rules: readonly RuleWithOperations[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= "*";
}

export function defaultMatchResources(resources: MatchResources): void {
  resources.matchPolicy ??= "Equivalent";
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  defaultRules(resources.resourceRules);
  defaultRules(resources.excludeResourceRules);
}

export function validateMatchResources(resources: MatchResources, path: FieldPath): FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector } = resources;
  return [
    ...(matchPolicy === undefined
      ? [required(path.child("matchPolicy"))]
      : matchPolicies.includes(matchPolicy)
        ? []
        : [notSupported(path.child("matchPolicy"), matchPolicy, matchPolicies)]),
    ...(namespaceSelector === undefined
      ? [required(path.child("namespaceSelector"))]
      : validateLabelSelector(namespaceSelector, path.child("namespaceSelector"))),
    ...(objectSelector === undefined ? [required(path.child("objectSelector"))] : validateLabelSelector(objectSelector, path.child("objectSelector"))),
    ...(["resourceRules", "excludeResourceRules"] as const).flatMap((name) =>
      (resources[name] ?? []).flatMap((rule, index) => validateNamedRule(rule, path.child(name).index(index))),
    ),
  ];
}

const mutatingOperations = ["*", "CONNECT", "CREATE", "UPDATE"];

/** Mutating policies change what is written; `path` is that of the resources to match. */
export function validateMutatingOperations({ resourceRules = [] }: MatchResources, path: FieldPath): FieldError[] {
  const asked = resourceRules.flatMap(({ operations: names = [] }) => names);
  // The path says no index.
  return asked
    .filter((operation) => operation === "DELETE")
    .map((operation) => notSupported(path.child("resourceRules", "operations"), operation, mutatingOperations));
}

function validateNamedRule(rule: NamedRuleWithOperations, path: FieldPath): FieldError[] {
  const seen = new Set<string>();
  const names = (rule.resourceNames ?? []).flatMap((name, index) => {
    const at = path.child("resourceNames").index(index);
    const errors = invalidEach(at, name, pathSegmentName(name));
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    return errors;
  });
  return [...names, ...validateRule(rule, path)];
}

export function validateRule(rule: RuleWithOperations, path: FieldPath): FieldError[] {
  const { operations: asked = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  return [
    ...validateWildcard(asked, "operations", path.child("operations")),
    ...asked.flatMap((operation, index) =>
      operations.includes(operation) ? [] : [notSupported(path.child("operations").index(index), operation, operations)],
    ),
    ...validateWildcard(apiGroups, "API groups", path.child("apiGroups")),
    ...validateWildcard(apiVersions, "API versions", path.child("apiVersions")),
    ...apiVersions.flatMap((version, index) => (version === "" ? [required(path.child("apiVersions").index(index))] : [])),
    ...validateResources(resources, path.child("resources")),
    ...(scope === undefined || scopes.includes(scope) ? [] : [notSupported(path.child("scope"), scope, scopes)]),
  ];
}

/** A list that is not empty, and in which `*` stands alone. */
function validateWildcard(values: readonly string[], what: string, path: FieldPath): FieldError[] {
  if (values.length === 0) return [required(path)];
  return values.length > 1 && values.includes("*") ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)] : [];
}

function validateResources(resources: readonly string[], path: FieldPath): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const withAnySubresource = new Set<string>();
  const ofAnyResource = new Set<string>();
  resources.forEach((name, index) => {
    if (name === "") errors.push(required(path.index(index)));
    const slash = name.indexOf("/");
    if (slash < 0) return;
    const resource = name.slice(0, slash);
    const subresource = name.slice(slash + 1);
    if (withAnySubresource.has(resource)) errors.push(invalid(path.index(index), name, `if '${resource}/*' is present, must not specify ${name}`));
    if (ofAnyResource.has(subresource)) errors.push(invalid(path.index(index), name, `if '*/${subresource}' is present, must not specify ${name}`));
    if (subresource === "*") withAnySubresource.add(resource);
    if (resource === "*") ofAnyResource.add(subresource);
  });
  if (resources.length > 1 && resources.includes("*/*")) errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  const hasPlain = resources.some((name) => name !== "" && name !== "*" && !name.includes("/"));
  if (resources.includes("*") && hasPlain) errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  return errors;
}
