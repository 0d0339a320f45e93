import assert from "node:assert/strict";
import { it } from "node:test";

import { VirtualClock } from "../base/virtual-clock.ts";
import { openMemoryStore } from "./memory-store.ts";
import { storeConformance } from "./store-conformance.ts";

storeConformance("memory store", async () => {
  const clock = new VirtualClock();
  return { store: openMemoryStore({ clock }), clock };
});

it("refuses puts above its quota, and takes them when there is room again", async () => {
  await using store = openMemoryStore({ clock: new VirtualClock(), quotaBytes: 2_500 });
  const put = (key: string) => store.commit({ kind: "put", key, value: new Uint8Array(1_000), expected: 0 });
  const { revision } = await put("/a");
  await put("/b");
  await assert.rejects(put("/c"), { reason: "Full", message: "etcdserver: mvcc: database space exceeded" });
  await store.commit({ kind: "delete", key: "/a", expected: revision });
  assert.equal((await put("/c")).isCommitted, true);
});

it("starts with what another store held, and goes on from its revision", async () => {
  await using first = openMemoryStore({ clock: new VirtualClock() });
  const put = (key: string, expected: number) => ({ kind: "put", key, value: Buffer.from(key), expected }) as const;
  const { revision } = await first.commit(put("/a", 0));
  await first.commit(put("/b", 0));
  await first.commit({ kind: "delete", key: "/b", expected: revision + 1 });
  await using second = openMemoryStore({ clock: new VirtualClock(), image: await first.range("/") });
  assert.deepEqual(await second.range("/"), await first.range("/"));
  assert.equal((await second.commit(put("/a", 0))).isCommitted, false);
  assert.deepEqual(await second.commit(put("/a", revision)), { isCommitted: true, revision: revision + 3 });
  await assert.rejects(second.range("/", { revision }), { name: "CompactedError" });
  assert.equal((await first.get("/a"))?.modRevision, revision);
});
