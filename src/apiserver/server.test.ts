import { test } from "node:test";
import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { VirtualClock } from "../base/virtual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { openMemoryStore } from "../storage/index.ts";
import { ask, openWatch, told } from "../testing/ask.ts";
import { TestCluster } from "../testing/cluster.ts";
import { KeptStore } from "../testing/kept-store.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

test("server: a restart on the same store keeps everything, writes nothing, and watches go on", async () => {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  const start = (seed: number) => TestCluster.start({ seed, wrapStore: () => new KeptStore(store, { clock, random: seededRandom(seed) }) });
  const paths = [
    "/api/v1/namespaces",
    "/api/v1/services",
    configMaps,
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/networking.k8s.io/v1/ipaddresses",
    "/apis/example.com/v1/widgets",
  ];
  const read = (cluster: TestCluster) => Promise.all(paths.map(async (path) => (await ask(cluster, "GET", path)).text));

  const first = await start(1);
  await ask(first, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  });
  await first.turn();
  equal(
    (await ask(first, "POST", "/apis/example.com/v1/namespaces/default/widgets", { kind: "Widget", apiVersion: "example.com/v1", metadata: { name: "w" } }))
      .status,
    201,
  );
  await ask(first, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { k: "v" } });
  const service = (name: string) => ({ kind: "Service", apiVersion: "v1", metadata: { name }, spec: { clusterIP: "10.0.5.5", ports: [{ port: 80 }] } });
  await ask(first, "POST", "/api/v1/namespaces/default/services", service("s"));
  const before = await read(first);
  const revision = await store.revision();
  await first.close();

  await using second = await start(2);
  deepEqual(await read(second), before);
  equal(await store.revision(), revision);
  equal((await ask(second, "POST", "/api/v1/namespaces/default/services", service("t"))).status, 422);
  const watch = await openWatch(second, `${configMaps}?watch=true&resourceVersion=${revision}`);
  await second.turn();
  await ask(second, "DELETE", `${configMaps}/a`);
  await second.turn();
  deepEqual(told(watch.events), ["DELETED a"]);
  watch.stop();
  await watch.ended;
});

test("server: what a crash left half done is mended at the next start", async () => {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  const start = () => TestCluster.start({ wrapStore: () => new KeptStore(store, { clock, random: seededRandom(1) }) });
  const addresses = "/apis/networking.k8s.io/v1/ipaddresses";
  const first = await start();
  await ask(first, "POST", "/api/v1/namespaces/default/services", {
    kind: "Service",
    apiVersion: "v1",
    metadata: { name: "s" },
    spec: { clusterIP: "10.0.5.5", ports: [{ port: 80 }] },
  });
  await ask(first, "POST", "/api/v1/namespaces/default/services", {
    kind: "Service",
    apiVersion: "v1",
    metadata: { name: "t" },
    spec: { clusterIP: "10.0.5.6", ports: [{ port: 80 }] },
  });
  await first.close();
  // The object of one address was not yet made; the Service of another is gone, its object not yet.
  for (const key of ["/registry/ipaddresses/10.0.5.5", "/registry/services/specs/default/t"]) {
    equal((await store.commit({ kind: "delete", key, expected: (await store.get(key))!.modRevision })).isCommitted, true);
  }
  await using second = await start();
  equal((await ask(second, "GET", `${addresses}/10.0.5.5`)).status, 200);
  equal((await ask(second, "GET", `${addresses}/10.0.5.6`)).status, 404);
});

test("server: every answer's head", async () => {
  await using cluster = await TestCluster.start();
  const answer = await ask(cluster, "GET", "/api/v1/namespaces/default", undefined, { "audit-id": "mine" });
  deepEqual([answer.headers["audit-id"], answer.headers["cache-control"], answer.headers["content-type"]], ["mine", "no-cache, private", "application/json"]);
  notEqual(answer.headers["x-kubernetes-pf-flowschema-uid"], undefined);
  const warned = await ask(cluster, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, 'x"\\ü': 1 });
  equal(warned.status, 201);
  match(Buffer.from((warned.headers["warning"] as string[])[0]!, "latin1").toString(), /^299 - "unknown field .*"$/);
});

test("server: requests that lead nowhere, and the time they may take", async () => {
  await using cluster = await TestCluster.start();
  const table: [method: string, target: string, status: number, message: RegExp][] = [
    ["GET", "/nothing", 404, /^$/],
    ["GET", "/api/v1/nothings", 404, /^the server could not find the requested resource$/],
    ["GET", "/api/v1/namespaces/default/pods/a%2Fb", 404, /./],
    ["GET", "/api/v1/nodes/..", 400, /may not be '\.\.'/],
    ["BREW", "/api/v1/pods", 405, /^the server does not allow this method on the requested resource$/],
    ["POST", `${configMaps}/a`, 405, /^the server does not allow this method on the requested resource$/],
    ["GET", "/api/v1/pods?timeout=x", 400, /^invalid timeout specified in the request URL - time: invalid duration "x"$/],
    ["GET", "/api/v1/pods?timeout=5", 400, /missing unit in duration "5"$/],
    ["GET", "/api/v1/pods?timeout=5y", 400, /unknown unit "y" in duration "5y"$/],
    ["GET", `${configMaps}/none?resourceVersion=99999`, 504, /^Timeout: Too large resource version: 99999, current: \d+$/],
  ];
  for (const [method, target, status, message] of table) {
    const answer = await ask(cluster, method, target);
    equal(answer.status, status, `${method} ${target} ${answer.text}`);
    match((answer.json["message"] as string | undefined) ?? "", message, target);
  }
  deepEqual([(await ask(cluster, "GET", "/api/v1/%zz")).text], ["400 Bad Request"]);
  equal((await ask(cluster, "GET", "/api/v1/pods?timeout=1m30s")).status, 200);
  for (const path of ["/healthz", "/livez", "/readyz"]) deepEqual((await ask(cluster, "GET", path)).text, "ok");
});

test("server: who may nothing gets nothing, in words", async () => {
  await using cluster = await TestCluster.start();
  const client = cluster.clientFor({ username: "eve", groups: ["system:authenticated"] });
  const refused = await ask({ client }, "GET", `${configMaps}/a`);
  deepEqual(
    [refused.status, refused.json["message"]],
    [403, 'configmaps "a" is forbidden: User "eve" cannot get resource "configmaps" in API group "" in the namespace "default"'],
  );
  const acting = await ask({ client }, "GET", `${configMaps}/a`, undefined, { "impersonate-user": "admin" });
  equal(acting.status, 403);
  const allowed = await ask(cluster, "GET", `${configMaps}/a`, undefined, { "impersonate-user": "eve" });
  match(allowed.json["message"] as string, /User "eve" cannot get/);
  equal((await ask({ client }, "GET", "/version")).status, 200);
});

test("server: one that ends answers what is under way, and turns away what comes but questions about its health", async () => {
  const cluster = await TestCluster.start();
  const post = (name: string) => ask(cluster, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata: { name } });
  const underWay = post("a");
  const ended = cluster.close();
  const late = await post("b");
  deepEqual([late.status, late.headers["retry-after"], late.text], [429, "5", "The apiserver is shutting down, please try again later.\n"]);
  equal((await ask(cluster, "GET", "/livez")).status, 200);
  equal((await underWay).status, 201);
  await ended;
});
