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

/** Nodes say that they are ready or not, are cordoned, and tainted by others: the taints that pods see end as the nodes are, and those of others stay. */
simulate("nodes are tainted as they say they are", setting, ({ client, cluster, random, state }) => {
  const nodes = () => state.of<Node>("Node");
  let foreign = 0;
  const isForeign = ({ key }: { readonly key?: string }) => key?.startsWith("mine-") === true;
  const taint = ({ metadata, spec }: DeepReadonly<Node>) =>
    client.patch(resources.nodes, "", metadata.name ?? "", {
      type: "merge",
      body: {
        metadata: { resourceVersion: metadata.resourceVersion },
        spec: { taints: [...(spec?.taints ?? []), { key: `mine-${++foreign}`, effect: "NoSchedule" }] },
      },
    });
  return {
    async arrange() {},
    async step() {
      const node = someOf(random, nodes())!;
      const name = node.metadata.name ?? "";
      const choice = random.integer(4);
      if (choice === 0) return taint(await client.get(resources.nodes, "", name));
      if (choice === 1)
        return client.patch(resources.nodes, "", name, { type: "merge", body: { spec: { unschedulable: node.spec?.unschedulable === true ? null : true } } });
      const conditions = ready(isReady(node) ? "False" : "True");
      await client.patch(resources.nodes, "", name, { type: "strategic", subresource: "status", body: { status: { conditions } } });
      // While the controller is about to say so, too.
      if (choice === 2) await taint(await client.get(resources.nodes, "", name));
    },
    check({ kind, object, old }) {
      if (kind !== "Node" || object === undefined || old === undefined) return;
      const keys = new Set((object as Node).spec?.taints?.map(({ key }) => key));
      const lost = (old as Node).spec?.taints?.filter((one) => isForeign(one) && !keys.has(one.key));
      assert.deepEqual(lost ?? [], [], "the taints of others stay");
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
        const told = (spec?.taints ?? []).filter((one) => !isForeign(one)).map(({ key, effect }) => `${key}:${effect}`);
        assert.deepEqual(told.filter((text) => !text.endsWith(":NoExecute")).sort(), wanted, `${metadata.name}`);
        const isMoved = told.includes(`${notReady}:NoExecute`);
        if (isHealthy || isMoved) assert.equal(isMoved, !isReady(node), `${metadata.name}`);
      }
    },
  };
});
