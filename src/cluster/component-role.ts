import { isAlreadyExists } from "../apimachinery/status.ts";
import type { PolicyRule } from "../api/rbac-v1/types.ts";
import { Client, ensureObject, resources } from "../client/index.ts";
import type { DeepReadonly, KubeObject, ResourceType } from "../client/index.ts";
import type { Clock } from "../base/clock.ts";
import type { ComponentContext } from "./components/start-components.ts";

/**
 * Grants a component of ours what no bootstrap role gives it: a ClusterRole and its binding, made when they are not there. Under a signal it
 * goes on trying while the server cannot be reached; without one the first failure ends it.
 */
export async function ensureComponentRole({ environment, transportFor, signal }: RoleContext, role: ComponentRole): Promise<void> {
  const { clock } = environment;
  const transport = transportFor({ username: "coracle", groups: ["system:masters", "system:authenticated"] });
  const client = new Client({ transport, clock, userAgent: "coracle" });
  const ensure = <T extends KubeObject>(resource: ResourceType<T>, object: DeepReadonly<T>) =>
    signal === undefined ? client.create(resource, object).catch(unlessThere) : ensureObject(client, resource, object, { clock, signal });
  const { name, user, rules } = role;
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await ensure(resources.clusterRoles, { kind: "ClusterRole", apiVersion, metadata: { name }, rules });
  await ensure(resources.clusterRoleBindings, {
    kind: "ClusterRoleBinding",
    apiVersion,
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
  });
}

export interface RoleContext extends Pick<ComponentContext, "transportFor"> {
  readonly environment: { readonly clock: Clock };
  readonly signal?: AbortSignal;
}

export interface ComponentRole {
  readonly name: string;
  readonly user: string;
  readonly rules: PolicyRule[];
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
