import { deepEqual } from "../../apimachinery/json.ts";
import { matchesLabels, selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { resources } from "../../client/index.ts";
import { nothingToDo, patchAction } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ClusterRole, PolicyRule } from "../../api/rbac-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** A role with an aggregation rule has the rules of all roles that its selectors choose, by name, equal ones once (documentation page "Using RBAC Authorization"). */
export function planAggregation({ role, roles }: AggregationSnapshot): Plan {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(selectorFromObject);
  if (role.aggregationRule === undefined) return nothingToDo;
  const rules: DeepReadonly<PolicyRule>[] = [];
  for (const selector of selectors) {
    const chosen = roles.filter(({ metadata }) => metadata.name !== role.metadata.name && matchesLabels(selector, metadata.labels));
    chosen.sort((left, right) => ((left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1));
    for (const rule of chosen.flatMap((other) => other.rules ?? [])) if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
  }
  if (deepEqual(rules, role.rules ?? [])) return nothingToDo;
  const body = { kind: "ClusterRole", apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: role.metadata.name }, ...(rules.length > 0 && { rules }) };
  return {
    actions: [patchAction(resources.clusterRoles, role, { type: "apply", body, fieldManager: "clusterrole-aggregation-controller", isForced: true })],
    reasons: ["the rules of the roles it is made of have changed"],
  };
}

export interface AggregationSnapshot {
  readonly role: DeepReadonly<ClusterRole>;
  readonly roles: readonly DeepReadonly<ClusterRole>[];
}
