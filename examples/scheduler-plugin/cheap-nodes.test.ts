import assert from "node:assert/strict";
import { test } from "node:test";
import { resources } from "coracle/client";
import { startCluster } from "coracle/testing";
import { cheapNodes, config } from "./cheap-nodes.ts";

async function start() {
  const cluster = await startCluster({ scheduler: { config, plugins: { CheapNodes: cheapNodes } } });
  for (const [index, price] of ["3", "1", "2"].entries())
    await cluster.client.patch(resources.nodes, "", `node-${index + 1}`, { type: "merge", body: { metadata: { labels: { "example.com/price": price } } } });
  return cluster;
}

const pod = (name: string, annotations: Record<string, string> = {}, schedulerName = "cheap") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", annotations },
  spec: { schedulerName, containers: [{ name: "c", image: "busybox" }] },
});

test("pods go to the cheapest node", async () => {
  await using cluster = await start();
  await cluster.apply(pod("a"), pod("b"), pod("c"), pod("d", {}, "default-scheduler"));
  await cluster.settled();
  const { items } = await cluster.client.list(resources.pods, "default");
  assert.deepEqual(
    items.filter(({ spec }) => spec?.schedulerName === "cheap").map(({ spec }) => spec?.nodeName),
    ["node-2", "node-2", "node-2"],
  );
  assert.ok(items.every(({ spec }) => spec?.nodeName !== undefined));
});

test("a pod waits for a node that it can pay for, and says so", async () => {
  await using cluster = await start();
  await cluster.apply(pod("poor", { "example.com/budget": "0.5" }));
  await cluster.settled();
  const waiting = await cluster.client.get(resources.pods, "default", "poor");
  assert.match(waiting.status?.conditions?.[0]?.message ?? "", /^0\/3 nodes are available: 3 node\(s\) cost more than the pod may\./);
  await cluster.client.patch(resources.nodes, "", "node-3", { type: "merge", body: { metadata: { labels: { "example.com/price": "0.4" } } } });
  await cluster.settled();
  assert.equal((await cluster.client.get(resources.pods, "default", "poor")).spec?.nodeName, "node-3");
});
