import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Node } from "../../api/core-v1/types.ts";

const flags = { "allocate-node-cidrs": "true", "cluster-cidr": "10.1.0.0/24", "node-cidr-mask-size": "27" };
const setting = { controllers: ["node-ipam-controller"], flags, nodes: [], steps: 20, pauseMs: 6000 };
const shares = 8;

/** Nodes come and go, at times more than there are ranges: no two nodes have one range, and in the end as many have one as can. */
simulate("each node has a range of its own", setting, ({ client, random, state }) => {
  let born = 0;
  const nodes = () => state.of<Node>("Node");
  const taken = () => nodes().flatMap(({ spec }) => spec?.podCIDR ?? []);
  const create = () => client.create(resources.nodes, { metadata: { name: `node-${++born}` } });
  return {
    async arrange() {
      for (let count = 0; count < 4; count++) await create();
    },
    async step() {
      const node = someOf(random, nodes());
      if (random.integer(5) < 3 || node === undefined) return create();
      return client.delete(resources.nodes, "", node.metadata.name ?? "");
    },
    check({ kind }) {
      if (kind === "Node") assert.equal(new Set(taken()).size, taken().length, taken().join(" "));
    },
    async reached() {
      assert.equal(taken().length, Math.min(shares, nodes().length));
    },
  };
});
