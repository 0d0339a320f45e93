import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Namespace } from "../../api/core-v1/types.ts";

const kinds = ["ConfigMap", "Secret", "Pod"];

/** Namespaces are filled and deleted: those deleted end gone with all that was in them; of the others nothing goes, nor a namespace before its content. */
simulate("deleted namespaces go with all that is in them", { controllers: ["namespace-controller"], steps: 16, pauseMs: 8000 }, ({ client, random, state }) => {
  let born = 0;
  const namespaces = () => state.of<Namespace>("Namespace").filter(({ metadata }) => metadata.name?.startsWith("ns-") === true);
  const content = () => kinds.flatMap((kind) => state.of<KubeObject>(kind)).filter(({ metadata }) => metadata.namespace?.startsWith("ns-") === true);
  const live = () => namespaces().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const createNamespace = async () => {
    const { metadata } = await client.create(resources.namespaces, { metadata: { name: `ns-${++born}` } });
    await client.create(resources.serviceAccounts, { metadata: { namespace: metadata.name!, name: "default" } });
  };
  return {
    async arrange() {
      for (let count = 0; count < 3; count++) await createNamespace();
    },
    async step() {
      const namespace = someOf(random, live())?.metadata.name;
      const choice = random.integer(5);
      if (choice === 0 || namespace === undefined) return createNamespace();
      if (choice === 1) return client.delete(resources.namespaces, "", namespace);
      const metadata = { namespace, name: `o${++born}` };
      if (choice === 2) return client.create(resources.pods, { metadata, spec: podTemplate("a:1").spec! });
      if (choice === 3) return client.create(resources.configMaps, { metadata });
      return client.create(resources.secrets, { metadata });
    },
    check({ kind, object, old }) {
      if (object !== undefined) return;
      if (kind === "Namespace")
        assert.deepEqual(
          content().filter(({ metadata }) => metadata.namespace === old?.metadata.name),
          [],
        );
      const isLive = live().some(({ metadata }) => metadata.name === old?.metadata.namespace);
      if (kinds.includes(kind)) assert.ok(!isLive, "its namespace is being deleted");
    },
    async reached() {
      assert.equal(namespaces().length, live().length, "deleted namespaces are gone");
      const names = new Set(live().map(({ metadata }) => metadata.name));
      for (const { metadata } of content()) assert.ok(names.has(metadata.namespace), `${metadata.name} is in a namespace`);
    },
  };
});
