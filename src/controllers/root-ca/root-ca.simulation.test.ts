import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { ConfigMap, Namespace } from "../../api/core-v1/types.ts";

const name = "kube-root-ca.crt";

/** Namespaces come, and what each of them has to have is taken away: in the end all have it. */
simulate(
  "each namespace has the root certificate",
  { controllers: ["root-ca-certificate-publisher-controller"], nodes: [], steps: 14 },
  ({ client, random, state }) => {
    let born = 0;
    const namespaces = () => state.of<Namespace>("Namespace").map(({ metadata }) => metadata.name ?? "");
    const create = () => client.create(resources.namespaces, { metadata: { name: `ns-${++born}` } });
    return {
      arrange: create,
      async step() {
        const namespace = someOf(random, namespaces())!;
        if (random.integer(2) === 0) return create();
        if (random.integer(3) === 0) return client.patch(resources.configMaps, namespace, name, { type: "merge", body: { data: { "ca.crt": "other" } } });
        return client.delete(resources.configMaps, namespace, name);
      },
      async reached() {
        const there = state.of<ConfigMap>("ConfigMap").filter(({ metadata }) => metadata.name === name);
        for (const { data } of there) assert.notEqual(data?.["ca.crt"], "other");
        for (const namespace of namespaces())
          assert.ok(
            there.some(({ metadata }) => metadata.namespace === namespace),
            `${namespace} has it`,
          );
      },
    };
  },
);
