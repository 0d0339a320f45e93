import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isLive, isReady, podTemplate } from "../../testing/simulation/pods.ts";
import { Recent } from "../../testing/simulation/recent.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Deployment, ReplicaSet } from "../../api/apps-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const controllers = ["deployment-controller", "replicaset-controller"];

/** Scaled and rolled out again and again: it ends with as many pods as it wants, all of the last template, and takes none away that it cannot do without. */
simulate("a Deployment ends as it was told to be", { controllers }, ({ cluster, client, random, state, unknownCreates }) => {
  const replicas = new Recent(cluster.clock);
  let version = 1;
  const pods = () => state.of<Pod>("Pod").filter(isLive);
  return {
    arrange() {
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } as const;
      const spec = { replicas: replicas.set(4), strategy, selector: { matchLabels: { app: "web" } }, template: podTemplate("a:1") };
      return client.create(resources.deployments, { metadata: { namespace: "default", name: "web" }, spec } satisfies Deployment);
    },
    step() {
      const isRollout = random.integer(2) === 0;
      const spec = isRollout ? { template: podTemplate(`a:${++version}`) } : { replicas: replicas.set(1 + random.integer(6)) };
      return client.patch(resources.deployments, "default", "web", { type: "merge", body: { spec } });
    },
    check({ kind, object, old }) {
      if (kind === "ReplicaSet") {
        // How many may be is a matter of the sizes told: pods of a smaller ReplicaSet may still be on their way out.
        const told = state.of<ReplicaSet>("ReplicaSet").reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
        const allowed = Math.max(...replicas.values) + 1;
        assert.ok(told <= allowed, `${told} pods told of ${allowed}`);
      }
      const wasReady = kind === "Pod" && old !== undefined && isReady(old as Pod);
      const isGoing = object === undefined || object.metadata.deletionTimestamp !== undefined;
      const ready = pods().filter(isReady).length;
      // A pod too many that goes again may have been counted as one that stays.
      const needed = Math.min(...replicas.values) - 1 - unknownCreates();
      if (wasReady && isGoing) assert.ok(ready >= needed, `${ready} ready pods of ${needed}`);
    },
    async reached() {
      const wanted = replicas.latest;
      assert.deepEqual(
        pods().map(({ spec }) => spec?.containers?.[0]?.image),
        Array.from({ length: wanted }, () => `a:${version}`),
      );
      const { status } = await client.get(resources.deployments, "default", "web");
      assert.deepEqual([status?.replicas, status?.updatedReplicas, status?.availableReplicas, status?.unavailableReplicas ?? 0], [wanted, wanted, wanted, 0]);
    },
  };
});
