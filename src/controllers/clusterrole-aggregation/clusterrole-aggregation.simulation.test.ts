import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { ClusterRole } from "../../api/rbac-v1/types.ts";

const setting = { controllers: ["clusterrole-aggregation-controller"], nodes: [], steps: 14 };

/** Roles come to be chosen, change and go: the one made of them ends with their rules. */
simulate("an aggregated role has the rules of the roles it chooses", setting, ({ client, random, state }) => {
  let born = 0;
  const parts = () => state.of<ClusterRole>("ClusterRole").filter(({ metadata }) => metadata.name?.startsWith("part-") === true);
  const rules = () => [{ apiGroups: [""], resources: [`r${random.integer(20)}`], verbs: ["get"] }];
  const labels = () => ({ part: random.integer(3) > 0 ? "yes" : "no" });
  const create = () => client.create(resources.clusterRoles, { metadata: { name: `part-${++born}`, labels: labels() }, rules: rules() });
  return {
    async arrange() {
      const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: "yes" } }] };
      await client.create(resources.clusterRoles, { metadata: { name: "whole" }, aggregationRule, rules: [] });
      await create();
      await create();
    },
    async step() {
      const name = someOf(random, parts())?.metadata.name;
      const choice = random.integer(4);
      if (choice === 0 || name === undefined) return create();
      if (choice === 1) return client.delete(resources.clusterRoles, "", name);
      const body = choice === 2 ? { rules: rules() } : { metadata: { labels: labels() } };
      return client.patch(resources.clusterRoles, "", name, { type: "merge", body });
    },
    async reached() {
      const told = (all: readonly { readonly resources?: readonly string[] }[]) => [...new Set(all.map((rule) => rule.resources?.[0]))].sort();
      const chosen = parts().filter(({ metadata }) => metadata.labels?.["part"] === "yes");
      const whole = await client.get(resources.clusterRoles, "", "whole");
      assert.deepEqual(told(whole.rules ?? []), told(chosen.flatMap((role) => role.rules ?? [])));
    },
  };
});
