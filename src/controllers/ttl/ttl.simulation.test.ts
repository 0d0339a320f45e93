import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Node } from "../../api/core-v1/types.ts";

const annotation = "node.alpha.kubernetes.io/ttl";

/** Nodes come, and the annotation is changed by others: in the end all tell how long a kubelet may keep what it read. */
simulate("nodes tell how long what they read is good for", { controllers: ["ttl-controller"], nodes: [], steps: 14 }, ({ client, random, state }) => {
  let born = 0;
  const nodes = () => state.of<Node>("Node");
  const create = () => client.create(resources.nodes, { metadata: { name: `node-${++born}` } });
  return {
    arrange: create,
    async step() {
      const name = someOf(random, nodes())?.metadata.name;
      if (name === undefined || random.integer(2) === 0) return create();
      const value = random.integer(2) === 0 ? null : "7";
      return client.patch(resources.nodes, "", name, { type: "merge", body: { metadata: { annotations: { [annotation]: value } } } });
    },
    async reached() {
      for (const { metadata } of nodes()) assert.equal(metadata.annotations?.[annotation], "0", `${metadata.name}`);
    },
  };
});
