import assert from "node:assert/strict";
import { test } from "node:test";
import { resources } from "coracle/client";
import { startCluster } from "coracle/testing";
import { websiteOperator, websites } from "./operator.ts";

const blog = websites.object({ name: "blog", namespace: "default" }, { domain: "blog.example.com", replicas: 3 });

test("a website is served, scaled, and cleaned up", async () => {
  await using cluster = await startCluster();
  await cluster.run(websiteOperator);
  await cluster.apply(blog);
  await cluster.settled();
  assert.equal((await cluster.client.get(websites, "default", "blog")).status?.ready, 3);
  assert.ok((await cluster.events("default")).some(({ message }) => message === "blog.example.com is served"));

  await cluster.client.patch(websites, "default", "blog", { type: "merge", body: { spec: { replicas: 1 } } });
  await cluster.settled();
  assert.equal((await cluster.client.list(resources.pods, "default")).items.length, 1);

  await cluster.client.delete(websites, "default", "blog");
  await cluster.settled();
  assert.deepEqual((await cluster.client.list(resources.pods, "default")).items, []);
});

test("it outlives the loss of a node", async () => {
  await using cluster = await startCluster({ seed: 2 });
  await cluster.run(websiteOperator);
  await cluster.apply(blog);
  await cluster.settled();
  await cluster.stop("node-1");
  await cluster.advance("10m");
  assert.equal((await cluster.client.get(websites, "default", "blog")).status?.ready, 3);
});

test("domains of others are refused", async () => {
  await using cluster = await startCluster();
  await cluster.run(websiteOperator);
  const foreign = websites.object({ name: "x" }, { domain: "example.org" });
  await assert.rejects(cluster.apply(foreign), /example.org is not below example.com/);
});
