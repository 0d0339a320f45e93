import { pathSegmentName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { defaultBinding, validateBinding, validateBindingUpdate } from "./bindings.ts";
import type { RoleBinding } from "./types.ts";

const scope = { roleKinds: ["Role", "ClusterRole"], isNamespaced: true };

export const roleBindings = defineKind<RoleBinding>({
  gvk: { group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding" },
  nameRule: pathSegmentName,
  generation: "none",
  defaults: defaultBinding,
  create: { validate: (binding) => validateBinding(binding, scope) },
  update: { validate: (binding, old) => validateBindingUpdate(binding, old, scope), allowsCreate: true },
});
