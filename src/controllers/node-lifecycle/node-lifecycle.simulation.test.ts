import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Node } from "../../api/core-v1/types.ts";

const ready = (status: string) => [{ type: "Ready", status, reason: "test", message: "test" }];
const setting = { controllers: ["node-lifecycle-controller"], nodes: ["n1", "n2", "n3", "n4"], steps: 14 };

/** Nodes say that they are ready or not, and are cordoned: the taints that pods see end as the nodes are. */
simulate("nodes are tainted as they say they are", setting, ({ client, cluster, random, state }) => {
  const nodes = () => state.of<Node>("Node");
  return {
    async arrange() {},
    async step() {
      const node = someOf(random, nodes())!;
      const name = node.metadata.name ?? "";
      if (random.integer(3) === 0)
        return client.patch(resources.nodes, "", name, { type: "merge", body: { spec: { unschedulable: node.spec?.unschedulable === true ? null : true } } });
      const isReady = node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
      return client.patch(resources.nodes, "", name, { type: "strategic", subresource: "status", body: { status: { conditions: ready(isReady ? "False" : "True") } } });
    },
    settle: () => cluster.advance(120_000),
    async reached() {
      for (const { metadata, spec, status } of nodes()) {
        const isReady = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
        const wanted = [
          ...(isReady ? [] : ["node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/not-ready:NoSchedule"]),
          ...(spec?.unschedulable === true ? ["node.kubernetes.io/unschedulable:NoSchedule"] : []),
        ];
        assert.deepEqual((spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort(), wanted, metadata.name);
      }
    },
  };
});
