import { isAlreadyExists } from "../apimachinery/status.ts";
import type { PolicyRule } from "../api/rbac-v1/types.ts";
import { Client, resources } from "../client/index.ts";
import type { Clock } from "../base/clock.ts";
import type { ComponentContext } from "./components/start-components.ts";

/** Grants a component of ours what no bootstrap role gives it: a ClusterRole and its binding, made when they are not there. */
export async function ensureComponentRole({ environment, transportFor }: RoleContext, role: ComponentRole): Promise<void> {
  const transport = transportFor({ username: "coracle", groups: ["system:masters", "system:authenticated"] });
  const client = new Client({ transport, clock: environment.clock, userAgent: "coracle" });
  const { name, user, rules } = role;
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await client.create(resources.clusterRoles, { kind: "ClusterRole", apiVersion, metadata: { name }, rules }).catch(unlessThere);
  await client
    .create(resources.clusterRoleBindings, {
      kind: "ClusterRoleBinding",
      apiVersion,
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
    })
    .catch(unlessThere);
}

export interface RoleContext extends Pick<ComponentContext, "transportFor"> {
  readonly environment: { readonly clock: Clock };
}

export interface ComponentRole {
  readonly name: string;
  readonly user: string;
  readonly rules: PolicyRule[];
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
