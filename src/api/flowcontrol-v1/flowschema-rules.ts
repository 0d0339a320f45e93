/** Rules of what a flow schema matches: whose requests, to what (API reference "PolicyRulesWithSubjects"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Label, isDns1123Subdomain } from "../../apimachinery/names.ts";
import type { NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule, ServiceAccountSubject, Subject } from "./types.ts";

export function validateRules({ subjects = [], resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects, path: FieldPath): FieldError[] {
  const errors = subjects.length === 0 ? [required(path.child("subjects"), "subjects must contain at least one value")] : [];
  subjects.forEach((subject, index) => errors.push(...validateSubject(subject, path.child("subjects").index(index))));
  if (resourceRules.length + nonResourceRules.length === 0)
    errors.push(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  resourceRules.forEach((rule, index) => errors.push(...validateResourceRule(rule, path.child("resourceRules").index(index))));
  nonResourceRules.forEach((rule, index) => errors.push(...validateNonResourceRule(rule, path.child("nonResourceRules").index(index))));
  return errors;
}

/** The member of a subject that belongs to each kind. */
const members = { Group: "group", ServiceAccount: "serviceAccount", User: "user" } as const;
const memberOrder = ["ServiceAccount", "User", "Group"] as const;
const subjectKinds = Object.keys(members);

function validateSubject(subject: Subject, path: FieldPath): FieldError[] {
  const kind = subject.kind ?? "";
  if (!subjectKinds.includes(kind)) return [notSupported(path.child("kind"), kind, subjectKinds)];
  const member = members[kind as keyof typeof members];
  const at = path.child(member);
  const errors = subject[member] === undefined ? [required(at, `${member} is required when subject kind is '${kind}'`)] : [];
  if (kind === "ServiceAccount" && subject.serviceAccount !== undefined) errors.push(...validateAccount(subject.serviceAccount, at));
  else if (subject[member] !== undefined && !subject[member].name) errors.push(required(at.child("name")));
  for (const other of memberOrder) {
    if (other !== kind && subject[members[other]] !== undefined)
      errors.push(forbidden(path.child(members[other]), `${members[other]} is forbidden when subject kind is not '${other}'`));
  }
  return errors;
}

function validateAccount({ name = "", namespace = "" }: ServiceAccountSubject, path: FieldPath): FieldError[] {
  const errors = name === "" ? [required(path.child("name"))] : name === "*" ? [] : invalidEach(path.child("name"), name, isDns1123Subdomain(name));
  if (namespace === "") return [...errors, required(path.child("namespace"), "must specify namespace for service account")];
  return [...errors, ...invalidEach(path.child("namespace"), namespace, isDns1123Label(namespace))];
}

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

function validateVerbs(wanted: readonly string[], path: FieldPath): FieldError[] {
  const errors = validateList(wanted, path, "verbs must contain at least one value", "verbs");
  return wanted.every((verb) => verb === "*" || verbs.includes(verb)) ? errors : [...errors, notSupported(path, wanted, verbs)];
}

/** A list that must not be empty, and where `*` stands alone. */
function validateList(values: readonly string[], path: FieldPath, absence: string, noun: string): FieldError[] {
  if (values.length === 0) return [required(path, absence)];
  return values.length > 1 && values.includes("*") ? [invalid(path, values, `if '*' is present, must not specify other ${noun}`)] : [];
}

function validateResourceRule(rule: ResourcePolicyRule, path: FieldPath): FieldError[] {
  const { apiGroups = [], resources = [], namespaces = [], clusterScope } = rule;
  return [
    ...validateVerbs(rule.verbs ?? [], path.child("verbs")),
    ...validateList(apiGroups, path.child("apiGroups"), "resource rules must supply at least one api group", "api groups"),
    ...validateList(resources, path.child("resources"), "resource rules must supply at least one resource", "resources"),
    ...validateNamespaces(namespaces, clusterScope === true, path.child("namespaces")),
  ];
}

function validateNamespaces(namespaces: readonly string[], isClusterScoped: boolean, path: FieldPath): FieldError[] {
  if (namespaces.length === 0 && isClusterScoped) return [];
  const errors = validateList(namespaces, path, "resource rules that are not cluster scoped must supply at least one namespace", "namespaces");
  if (errors.length > 0) return errors;
  return namespaces.flatMap((namespace, index) => {
    const faults = namespace === "*" ? [] : isDns1123Label(namespace);
    return invalidEach(
      path.index(index),
      namespace,
      faults.map((fault) => `each member of this list must be '*' or a DNS-1123 label; ${fault}`),
    );
  });
}

function validateNonResourceRule({ verbs: wanted = [], nonResourceURLs = [] }: NonResourcePolicyRule, path: FieldPath): FieldError[] {
  const at = path.child("nonResourceURLs");
  const list = validateList(nonResourceURLs, at, "nonResourceURLs must contain at least one value", "non-resource URLs");
  const faults = nonResourceURLs.flatMap((url, index) => invalidEach(at.index(index), url, urlFaults(url)));
  return [...validateVerbs(wanted, path.child("verbs")), ...list, ...(list.length > 0 ? [] : faults)];
}

function urlFaults(url: string): string[] {
  if (url === "") return ["must not be empty"];
  if (url === "*") return [];
  if (!url.startsWith("/")) return ["must start with slash"];
  if (url.includes(" ")) return ["must not contain white-space"];
  if (url.includes("//")) return ["must not contain double slash"];
  const stars = url.split("*").length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith("/*")) ? ["wildcard can only do suffix matching"] : [];
}
