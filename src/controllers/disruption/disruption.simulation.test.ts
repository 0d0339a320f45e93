import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isLive, isReady, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodDisruptionBudget } from "../../api/policy-v1/types.ts";

const setting = { controllers: ["disruption-controller", "replicaset-controller"], steps: 12 };

/** Pods come, go and are ready or not, and the budget changes: its status ends as the pods are. */
simulate("a PodDisruptionBudget ends with the right count", setting, ({ client, random, state }) => {
  let replicas = 4;
  let minAvailable = 2;
  const pods = () => state.of<Pod>("Pod").filter(isLive);
  /** A refusal would ask to wait. */
  const isAllowed = () => {
    const [budget] = state.of<PodDisruptionBudget>("PodDisruptionBudget");
    return (budget?.status?.disruptionsAllowed ?? 0) > 0 && budget?.status?.observedGeneration === budget?.metadata.generation;
  };
  return {
    async arrange() {
      const selector = { matchLabels: { app: "web" } };
      await client.create(resources.podDisruptionBudgets, { metadata: { namespace: "default", name: "web" }, spec: { minAvailable, selector } });
      const spec = { replicas, selector, template: podTemplate("a:1") };
      await client.create(resources.replicaSets, { metadata: { namespace: "default", name: "web" }, spec });
    },
    async step() {
      const pod = someOf(random, pods());
      const name = pod?.metadata.name ?? "";
      const choice = random.integer(4);
      if (choice === 0) {
        minAvailable = random.integer(6);
        await client.patch(resources.podDisruptionBudgets, "default", "web", { type: "merge", body: { spec: { minAvailable } } });
      } else if (choice === 1) {
        replicas = random.integer(7);
        await client.patch(resources.replicaSets, "default", "web", { type: "merge", body: { spec: { replicas } } });
      } else if (choice === 2 && pod !== undefined) {
        const conditions = [{ type: "Ready", status: isReady(pod) ? "False" : "True" }];
        await client.patch(resources.pods, "default", name, { type: "strategic", subresource: "status", body: { status: { conditions } } });
      } else if (pod !== undefined && isAllowed()) {
        const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } };
        await client.createSubresource(resources.pods, { namespace: "default", name, subresource: "eviction" }, body);
      }
    },
    async reached() {
      const { metadata, status } = await client.get(resources.podDisruptionBudgets, "default", "web");
      const healthy = pods().filter(isReady).length;
      assert.deepEqual(
        [status?.expectedPods, status?.currentHealthy, status?.desiredHealthy, status?.disruptionsAllowed, status?.observedGeneration],
        [pods().length, healthy, minAvailable, pods().length === 0 ? 0 : Math.max(0, healthy - minAvailable), metadata.generation],
      );
    },
  };
});
