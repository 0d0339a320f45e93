import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isLive, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ReplicaSet } from "../../api/apps-v1/types.ts";
import type { Pod, ResourceQuota } from "../../api/core-v1/types.ts";

const controllers = ["resourcequota-controller", "replicaset-controller"];

/** A ReplicaSet wants more than the quota allows, which changes: there are never more pods than allowed, and in the end as many as may be, all counted. */
simulate("a quota is never exceeded and its use is exact", { controllers, nodes: ["n1"], seeds: 10 }, ({ cluster, client, random, state }) => {
  let hard = 4;
  let replicas = 6;
  const pods = () => state.of<Pod>("Pod");
  const quota = () => state.of<ResourceQuota>("ResourceQuota")[0] as DeepReadonly<ResourceQuota>;
  return {
    async arrange() {
      await client.create(resources.resourceQuotas, { metadata: { namespace: "default", name: "few" }, spec: { hard: { pods: String(hard) } } });
      // Before it is counted for the first time a quota forbids nothing.
      await cluster.until(() => quota().status?.hard !== undefined);
      await client.create(resources.replicaSets, {
        metadata: { namespace: "default", name: "web" },
        spec: { replicas, selector: { matchLabels: { app: "web" } }, template: podTemplate("a:1") },
      } satisfies ReplicaSet);
    },
    async step() {
      const pod = someOf(random, pods().filter(isLive));
      const choice = random.integer(3);
      if (choice === 0)
        await client.patch(resources.resourceQuotas, "default", "few", {
          type: "merge",
          body: { spec: { hard: { pods: String((hard = random.integer(7))) } } },
        });
      else if (choice === 1)
        await client.patch(resources.replicaSets, "default", "web", { type: "merge", body: { spec: { replicas: (replicas = random.integer(9)) } } });
      else if (pod !== undefined) await client.delete(resources.pods, "default", pod.metadata.name ?? "");
    },
    check({ kind, object, old }) {
      if (kind !== "Pod" || object === undefined || old !== undefined || quota()?.status?.hard === undefined) return;
      const allowed = Number(quota().status?.hard?.["pods"]);
      assert.ok(pods().length <= allowed, `${pods().length} pods of ${allowed}`);
    },
    // A ReplicaSet that was refused again and again waits up to 1,000 s, and a wrong count up to 300 s.
    settle: () => cluster.advance(2_400_000),
    async reached() {
      const count = pods().length;
      assert.ok(count >= Math.min(hard, replicas) && count <= replicas, `${count} pods: ${replicas} wanted, ${hard} allowed`);
      assert.deepEqual([quota().status?.used, quota().status?.hard], [{ pods: String(count) }, { pods: String(hard) }]);
    },
  };
});
