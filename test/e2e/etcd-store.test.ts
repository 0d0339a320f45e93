/** The conformance suite against a real etcd, which is `etcd` on the PATH (Debian: etcd-server). */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, it } from "node:test";

import { VirtualClock } from "../../src/base/virtual-clock.ts";
import { openStore, type Store } from "../../src/storage/index.ts";
import { storeConformance } from "../../src/storage/store-conformance.ts";

let endpoint = "";
let stop = async () => {};

if (spawnSync("etcd", ["--version"]).error === undefined) {
  before(start);
  after(() => stop());
  storeConformance("etcd store", openEmpty, { hasVirtualTime: false });

  it("deletes a key when its lease ends, as an event", async () => {
    const { store } = await openEmpty();
    await using _closing = store;
    const abort = new AbortController();
    const watch = store.watch("/e/", await store.revision(), abort.signal)[Symbol.asyncIterator]();
    await store.commit({ kind: "put", key: "/e/a", value: Buffer.from("v"), expected: 0, ttlSeconds: 1 });
    const kinds: string[] = [];
    while (kinds.length < 2) kinds.push(...(await watch.next()).value.events.map((event: { kind: string }) => event.kind));
    assert.deepEqual(kinds, ["put", "delete"]);
    abort.abort();
  });

  it("says what to do when nobody answers", async () => {
    await assert.rejects(openStore({ backend: "etcd", endpoints: ["http://127.0.0.1:1"], clock: new VirtualClock() }), {
      reason: "Unavailable",
      message: /^etcd at http:\/\/127\.0\.0\.1:1 does not answer: .*; check that it runs and its certificates$/,
    });
  });
} else {
  it.skip("needs etcd on the PATH", () => {});
}

/** A store without keys: those of the test before are deleted. */
async function openEmpty(): Promise<{ store: Store; clock: VirtualClock }> {
  const clock = new VirtualClock();
  const store = await openStore({ backend: "etcd", endpoints: [endpoint], clock });
  for (const { key, modRevision } of (await store.range("")).items) await store.commit({ kind: "delete", key, expected: modRevision });
  return { store, clock };
}

async function start(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "coracle-etcd-"));
  endpoint = `http://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const args = ["--data-dir", directory, "--listen-client-urls", endpoint, "--advertise-client-urls", endpoint];
  const child = spawn("etcd", [...args, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  stop = async () => {
    child.kill();
    await once(child, "exit");
    await rm(directory, { recursive: true });
  };
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error("etcd ended")));
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.includes("ready to serve client requests")) resolve();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
