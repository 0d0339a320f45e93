import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { ServiceAccount, Namespace } from "../../api/core-v1/types.ts";

const name = "default";

/** Namespaces come, and what each of them has to have is taken away: in the end all have it. */
simulate("each namespace has its service account", { controllers: ["serviceaccount-controller"], nodes: [], steps: 14 }, ({ client, random, state }) => {
  let born = 0;
  const namespaces = () => state.of<Namespace>("Namespace").map(({ metadata }) => metadata.name ?? "");
  const create = () => client.create(resources.namespaces, { metadata: { name: `ns-${++born}` } });
  return {
    arrange: create,
    async step() {
      const namespace = someOf(random, namespaces())!;
      if (random.integer(2) === 0) return create();
      return client.delete(resources.serviceAccounts, namespace, name);
    },
    async reached() {
      const there = state.of<ServiceAccount>("ServiceAccount").filter(({ metadata }) => metadata.name === name);
      for (const namespace of namespaces())
        assert.ok(
          there.some(({ metadata }) => metadata.namespace === namespace),
          `${namespace} has it`,
        );
    },
  };
});
