import { pathSegmentName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { validatePolicyRules } from "./policy-rules.ts";
import type { Role } from "./types.ts";

export const roles = defineKind<Role>({
  gvk: { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role" },
  nameRule: pathSegmentName,
  generation: "none",
  create: { validate: (role) => validatePolicyRules(role.rules, true) },
  update: { validate: (role) => validatePolicyRules(role.rules, true), allowsCreate: true },
});
