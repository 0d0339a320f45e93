import type { KindStrategy } from "../strategy.ts";
import { clusterRoles } from "./clusterrole.ts";
import { clusterRoleBindings } from "./clusterrolebinding.ts";
import { roles } from "./role.ts";
import { roleBindings } from "./rolebinding.ts";

export const rbacV1Strategies: readonly KindStrategy[] = [roles, clusterRoles, roleBindings, clusterRoleBindings];
