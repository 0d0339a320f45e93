import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { Recent } from "../../testing/simulation/recent.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { isLive, ownedBy, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import type { ReplicaSet } from "../../api/apps-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

/** Scaled, its pods deleted and taken out of its selector: in the end as many pods as it wants; never more than it wanted lately. */
simulate(
  "a ReplicaSet has the pods it wants and never too many",
  { controllers: ["replicaset-controller"] },
  ({ cluster, client, random, state, unknownCreates }) => {
    const replicas = new Recent(cluster.clock);
    const pods = () => state.of<Pod>("Pod").filter((pod) => ownedBy(pod, "web") && isLive(pod) && pod.metadata.labels?.["app"] === "web");
    return {
      arrange: () =>
        client.create(resources.replicaSets, {
          metadata: { namespace: "default", name: "web" },
          spec: { replicas: replicas.set(3), selector: { matchLabels: { app: "web" } }, template: podTemplate("a:1") },
        } satisfies ReplicaSet),
      async step() {
        const pod = someOf(random, pods());
        const name = pod?.metadata.name ?? "";
        const choice = random.integer(4);
        if (choice === 0 && pod !== undefined) await client.delete(resources.pods, "default", name);
        else if (choice === 1 && pod !== undefined)
          await client.patch(resources.pods, "default", name, { type: "merge", body: { metadata: { labels: { app: "free" } } } });
        else await client.patch(resources.replicaSets, "default", "web", { type: "merge", body: { spec: { replicas: replicas.set(random.integer(8)) } } });
      },
      check({ kind, object, old }) {
        if (kind !== "Pod" || object === undefined || old !== undefined) return;
        const allowed = Math.max(...replicas.values) + unknownCreates();
        assert.ok(pods().length <= allowed, `${pods().length} pods of ${allowed}`);
      },
      async reached() {
        const wanted = replicas.latest;
        assert.equal(pods().length, wanted);
        const { status } = await client.get(resources.replicaSets, "default", "web");
        assert.deepEqual([status?.replicas, status?.readyReplicas ?? 0, status?.availableReplicas ?? 0], [wanted, wanted, wanted]);
      },
    };
  },
);
