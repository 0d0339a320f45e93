import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import type { KubeObject } from "../../apimachinery/object.ts";
import { seededRandom } from "../../base/random.ts";
import { openMemoryStore } from "../../storage/index.ts";
import { ask } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { FaultStore } from "../../testing/fault-store.ts";
import type { FaultRates } from "../../testing/fault-store.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, data: object = {}) => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data });
const merge = { "content-type": "application/merge-patch+json" };

/** A cluster over a store whose faults begin when `rates` are set. */
async function start(seed = 1) {
  const rates: { -readonly [Kind in keyof FaultRates]: FaultRates[Kind] } = {};
  let store: FaultStore | undefined;
  const cluster = await TestCluster.start({ wrapStore: (inner, clock) => (store = new FaultStore(inner, { clock, random: seededRandom(seed), rates })) });
  return { cluster, rates, store: store! };
}

async function names(cluster: TestCluster, query = ""): Promise<string[]> {
  return ((await ask(cluster, "GET", `${configMaps}${query}`)).json["items"] as unknown as KubeObject[]).map(({ metadata }) => metadata.name!);
}

test("failures of the store: told as a timeout, and nothing that was confirmed is lost", async () => {
  const { cluster, rates } = await start();
  await using _ = cluster;
  Object.assign(rates, { failBefore: 0.2, failAfter: 0.2 });
  const confirmed: string[] = [];
  for (let index = 0; index < 100; index++) {
    const name = `a${String(index).padStart(3, "0")}`;
    const answer = await ask(cluster, "POST", configMaps, configMap(name));
    if (answer.status === 201) confirmed.push(name);
    else deepEqual([answer.status, answer.json["reason"], answer.json["message"]], [504, "Timeout", "etcdserver: request timed out"]);
  }
  Object.assign(rates, { failBefore: 0, failAfter: 0 });
  ok(confirmed.length > 40 && confirmed.length < 80);
  const shown = await names(cluster);
  deepEqual(
    confirmed.filter((name) => !shown.includes(name)),
    [],
  );
  deepEqual(await names(cluster, "?resourceVersion=0"), shown);
});

test("failures of the store: an update that may have happened is shown as it is", async () => {
  const { cluster, rates } = await start();
  await using _ = cluster;
  await ask(cluster, "POST", configMaps, configMap("a", { k: "1" }));
  rates.failAfter = 1;
  equal((await ask(cluster, "PATCH", `${configMaps}/a`, { data: { k: "2" } }, merge)).status, 504);
  rates.failAfter = 0;
  await cluster.turn();
  deepEqual((await ask(cluster, "GET", `${configMaps}/a`)).json["data"], { k: "2" });
  equal((await ask(cluster, "PATCH", `${configMaps}/a`, { data: { k: "3" } }, merge)).status, 200);
});

test("failures of the store: a store that was away is followed again", async () => {
  const { cluster, store } = await start();
  await using _ = cluster;
  await ask(cluster, "POST", configMaps, configMap("a"));
  store.crash();
  await cluster.turn();
  equal((await ask(cluster, "POST", configMaps, configMap("b"))).status, 504);
  equal((await ask(cluster, "GET", `${configMaps}/a`)).status, 200);
  await cluster.advance(3000);
  store.recover();
  await cluster.advance(1000);
  equal((await ask(cluster, "POST", configMaps, configMap("c"))).status, 201);
  deepEqual(await names(cluster), ["a", "c"]);
});

test("failures of the store: history that is gone is read anew", async () => {
  const { cluster, rates } = await start();
  await using _ = cluster;
  rates.compact = 1;
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(cluster, "POST", configMaps, configMap(`a${index}`))));
  deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  rates.compact = 0;
  equal((await names(cluster)).length, 20);
});

test("failures of the store: commits that come late keep to the races' rules", async () => {
  const { cluster, rates } = await start();
  await using _ = cluster;
  await ask(cluster, "POST", configMaps, configMap("a"));
  rates.delay = 1;
  const answers = Promise.all(Array.from({ length: 10 }, (_, index) => ask(cluster, "PATCH", `${configMaps}/a`, { data: { [`k${index}`]: "v" } }, merge)));
  await cluster.clock.advance(60_000);
  deepEqual([...new Set((await answers).map(({ status }) => status))], [200]);
  rates.delay = 0;
  equal(Object.keys((await ask(cluster, "GET", `${configMaps}/a`)).json["data"] as object).length, 10);
});

test("failures of the store: full", async () => {
  await using cluster = await TestCluster.start({ wrapStore: (_, clock) => openMemoryStore({ clock, quotaBytes: 2_000_000 }) });
  const large = "x".repeat(900_000);
  const statuses: number[] = [];
  for (let index = 0; index < 4; index++) statuses.push((await ask(cluster, "POST", configMaps, configMap(`a${index}`, { large }))).status);
  equal(statuses[0], 201);
  equal(statuses.at(-1), 500);
  const refused = await ask(cluster, "POST", configMaps, configMap("b", { large }));
  equal(refused.json["message"], "etcdserver: mvcc: database space exceeded");
  equal((await ask(cluster, "DELETE", `${configMaps}/a0`)).status, 200);
});
