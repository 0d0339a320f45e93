import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { resources } from "../../client/index.ts";
import { startCluster } from "../../testing/index.ts";
import type { Cluster } from "../../testing/index.ts";
import { child, defineOperator, defineReconciler } from "../index.ts";

const operator = defineOperator({
  name: "marker",
  reconcilers: [
    defineReconciler({
      for: resources.configMaps,
      owns: [resources.secrets],
      isRelevant: ({ object }) => object.metadata.labels?.["marked"] === "true",
      plan: ({ object }) => ({
        ...(object.metadata.labels?.["marked"] === "true" && { children: [child(resources.secrets, { metadata: { name: `${object.metadata.name}-mark` } })] }),
      }),
    }),
  ],
});

/** A replica that takes part in the election. */
function startReplica(cluster: Cluster, identity: string): void {
  cluster.start(identity, ({ transportFor, clock, random, log, signal }) =>
    operator.run({ transport: transportFor({ username: identity, groups: ["system:masters"] }), clock, random, log, namespace: "default", identity }, signal),
  );
}

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { marked: "true" } } });

test("of two replicas one leads; when it stops the other goes on within its next try", async () => {
  await using cluster = await startCluster({ nodes: 0 });
  const leader = async () => (await cluster.client.get(resources.leases, "default", "marker")).spec?.holderIdentity;
  const isMarked = async (name: string) =>
    (await cluster.client.list(resources.secrets, "default")).items.some(({ metadata }) => metadata.name === `${name}-mark`);
  startReplica(cluster, "one");
  await cluster.advance("1s");
  startReplica(cluster, "two");
  await cluster.apply(configMap("a"));
  await cluster.advance("10s");
  deepEqual([await leader(), await isMarked("a")], ["one", true]);
  await cluster.stop("one");
  await cluster.advance("5s");
  equal(await leader(), "two");
  await cluster.apply(configMap("b"));
  await cluster.advance("1s");
  equal(await isMarked("b"), true);
});
