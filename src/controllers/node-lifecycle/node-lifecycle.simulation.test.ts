import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";

const notReady = "node.kubernetes.io/not-ready";
const isReady = ({ status }: DeepReadonly<Node>) => status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
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
      return client.patch(resources.nodes, "", name, {
        type: "strategic",
        subresource: "status",
        body: { status: { conditions: ready(isReady(node) ? "False" : "True") } },
      });
    },
    settle: () => cluster.advance(120_000),
    async reached() {
      // Where more than about half of a zone is lost, nobody is moved: there is nowhere to go.
      const isHealthy = nodes().filter((node) => !isReady(node)).length <= nodes().length / 2;
      for (const node of nodes()) {
        const { metadata, spec } = node;
        const wanted = [
          ...(isReady(node) ? [] : [`${notReady}:NoSchedule`]),
          ...(spec?.unschedulable === true ? ["node.kubernetes.io/unschedulable:NoSchedule"] : []),
        ];
        const told = (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
        assert.deepEqual(told.filter((text) => !text.endsWith(":NoExecute")).sort(), wanted, `${metadata.name}`);
        const isMoved = told.includes(`${notReady}:NoExecute`);
        if (isHealthy || isMoved) assert.equal(isMoved, !isReady(node), `${metadata.name}`);
      }
    },
  };
});
