import { pathSegmentName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { defaultBinding, validateBinding, validateBindingUpdate } from "./bindings.ts";
import type { ClusterRoleBinding } from "./types.ts";

const scope = { roleKinds: ["ClusterRole"], isNamespaced: false };

export const clusterRoleBindings = defineKind<ClusterRoleBinding>({
  gvk: { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRoleBinding" },
  nameRule: pathSegmentName,
  generation: "none",
  defaults: defaultBinding,
  create: { validate: (binding) => validateBinding(binding, scope) },
  update: { validate: (binding, old) => validateBindingUpdate(binding, old, scope), allowsCreate: true },
});
