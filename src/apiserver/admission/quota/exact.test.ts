/** A quota of fifty against a hundred requests at once, on a store on disk and on two API servers. */
import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { seededRandom } from "../../../base/random.ts";
import { openStore } from "../../../storage/index.ts";
import type { Store } from "../../../storage/index.ts";
import { ask } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";
import { KeptStore } from "../../../testing/kept-store.ts";

const namespace = "/api/v1/namespaces/default";
const hard = { "count/configmaps": "50" };

async function fillUp(servers: readonly TestCluster[]): Promise<void> {
  const quota = await ask(servers[0]!, "POST", `${namespace}/resourcequotas`, { metadata: { name: "q" }, spec: { hard } });
  await ask(servers[0]!, "PUT", `${namespace}/resourcequotas/q/status`, { ...quota.json, status: { hard, used: { "count/configmaps": "0" } } });
  // The others have heard of it when they show it.
  for (const server of servers) equal((await ask(server, "GET", `${namespace}/resourcequotas/q`)).status, 200);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => ask(servers[index % servers.length]!, "POST", `${namespace}/configmaps`, { metadata: { name: `c${index}` } })),
  );
  const statuses = Map.groupBy(answers, ({ status }) => status);
  deepEqual([statuses.get(201)?.length, statuses.get(403)?.length], [50, 50]);
  for (const server of servers) {
    equal(((await ask(server, "GET", `${namespace}/configmaps`)).json["items"] as unknown[]).length, 50);
    deepEqual((await ask(server, "GET", `${namespace}/resourcequotas/q`)).json["status"], { hard, used: { "count/configmaps": "50" } });
  }
}

const on = (store: Store, seed: number) =>
  TestCluster.start({ seed, wrapStore: () => new KeptStore(store, { clock: systemClock(), random: seededRandom(seed) }) });

test("quota: exact on a store on disk", async () => {
  const folder = await mkdtemp(join(tmpdir(), "quota-"));
  const store = await openStore({ backend: "lmdb", directory: folder, clock: systemClock() });
  try {
    await using server = await on(store, 1);
    await fillUp([server]);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

test("quota: exact with two API servers on one store", async () => {
  await using store = await openStore({ backend: "memory", clock: systemClock() });
  await using first = await on(store, 1);
  await using second = await on(store, 2);
  await fillUp([first, second]);
});
