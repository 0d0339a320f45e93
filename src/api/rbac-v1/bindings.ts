/** What both kinds of bindings share: defaults and rules of subjects and of the role they refer to. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, pathSegmentName } from "../../apimachinery/names.ts";
import { internalForm } from "../meta/internal-form.ts";
import { immutable } from "../update-rules.ts";
import type { ClusterRoleBinding, RoleBinding, Subject } from "./types.ts";

const rbacGroup = "rbac.authorization.k8s.io";

/** Which roles a binding may refer to, and whether an account's namespace may be left out. */
export interface BindingScope {
  readonly roleKinds: readonly string[];
  readonly isNamespaced: boolean;
}

export function defaultBinding(binding: RoleBinding | ClusterRoleBinding): void {
  binding.roleRef ??= { kind: "", name: "" };
  binding.roleRef.apiGroup ||= rbacGroup;
  for (const subject of binding.subjects ?? []) {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= rbacGroup;
  }
}

export function validateBinding({ roleRef, subjects = [] }: RoleBinding | ClusterRoleBinding, scope: BindingScope): FieldError[] {
  const path = FieldPath.root("roleRef");
  const subjectPath = FieldPath.root("subjects");
  const errors: FieldError[] = [];
  if (roleRef.apiGroup !== rbacGroup) errors.push(notSupported(path.child("apiGroup"), roleRef.apiGroup, [rbacGroup]));
  if (!scope.roleKinds.includes(roleRef.kind)) errors.push(notSupported(path.child("kind"), roleRef.kind ?? "", scope.roleKinds));
  if (roleRef.name) errors.push(...invalidEach(path.child("name"), roleRef.name, pathSegmentName(roleRef.name)));
  errors.push(...subjects.flatMap((subject, index) => validateSubject(subject, scope, subjectPath.index(index))));
  errors.push(...subjects.flatMap((subject, index) => (subject.name ? [] : [required(subjectPath.index(index).child("name"))])));
  if (!roleRef.name) errors.push(required(path.child("name")));
  return errors;
}

export function validateBindingUpdate(binding: RoleBinding | ClusterRoleBinding, old: RoleBinding | ClusterRoleBinding, scope: BindingScope): FieldError[] {
  const shown = (value: RoleBinding | ClusterRoleBinding) => internalForm("api.rbac.v1.RoleRef", value.roleRef);
  return [...validateBinding(binding, scope), ...immutable(FieldPath.root("roleRef"), shown(binding), shown(old))];
}

function validateSubject(subject: Subject, { isNamespaced }: BindingScope, path: FieldPath): FieldError[] {
  const { kind = "", name = "", namespace = "", apiGroup = "" } = subject;
  const errors: FieldError[] = [];
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") errors.push(...invalidEach(path.child("name"), name, isDns1123Subdomain(name)));
      if (apiGroup !== "") errors.push(notSupported(path.child("apiGroup"), apiGroup, [""]));
      if (!isNamespaced && namespace === "") errors.push(required(path.child("namespace")));
      return errors;
    case "User":
    case "Group":
      return apiGroup === rbacGroup ? [] : [notSupported(path.child("apiGroup"), apiGroup, [rbacGroup])];
    default:
      return [notSupported(path.child("kind"), kind, ["ServiceAccount", "User", "Group"])];
  }
}
