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
