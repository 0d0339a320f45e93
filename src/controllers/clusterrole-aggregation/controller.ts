import { keyOf, resources } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { planAggregation } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { AggregationSnapshot } from "./plan.ts";

/** Fills aggregated ClusterRoles. Keys are those; a change of any role concerns all of them. */
export function clusterRoleAggregationController(): Controller {
  return defineController<AggregationSnapshot>({
    name: "clusterrole-aggregation-controller",
    watches: [
      watch(resources.clusterRoles, {
        keys: (_role, caches) =>
          caches
            .of(resources.clusterRoles)
            .list()
            .filter(({ aggregationRule }) => aggregationRule !== undefined)
            .map(keyOf),
      }),
    ],
    snapshot(name, caches) {
      const roles = caches.of(resources.clusterRoles);
      const role = roles.get("", name);
      return role && { role, roles: roles.list() };
    },
    plan: planAggregation,
  });
}
