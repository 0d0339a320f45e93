import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { seededRandom } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { CompactedError, openMemoryStore, StoreError } from "../storage/index.ts";
import { FaultStore, type FaultStoreOptions } from "./fault-store.ts";

function open(options: Partial<FaultStoreOptions>) {
  const clock = new VirtualClock();
  const inner = openMemoryStore({ clock });
  return { clock, inner, store: new FaultStore(inner, { clock, random: seededRandom(1), ...options }) };
}

const put = (key: string) => ({ kind: "put", key, value: Buffer.from("v"), expected: 0 }) as const;
const isUnavailable = (error: unknown) => error instanceof StoreError && error.reason === "Unavailable";

describe("fault store", () => {
  it("changes nothing without faults", async () => {
    const { store } = open({});
    const { revision } = await store.commit(put("/a"));
    assert.equal((await store.get("/a"))?.modRevision, revision);
    assert.deepEqual(store.counts, { failBefore: 0, failAfter: 0, delay: 0, compact: 0, crash: 0 });
    await store.close();
  });

  it("fails commits before or after they happened, as often as asked", async () => {
    const { store, inner } = open({ rates: { failBefore: 0.2, failAfter: 0.2 } });
    const results = await Promise.allSettled(Array.from({ length: 500 }, (_, index) => store.commit(put(`/${index}`))));
    const failed = results.filter((result) => result.status === "rejected").length;
    assert.equal(failed, store.counts.failBefore + store.counts.failAfter);
    assert.equal((await inner.range("/")).items.length, 500 - store.counts.failBefore);
    assert.ok(store.counts.failBefore > 70 && store.counts.failBefore < 130);
    assert.ok(store.counts.failAfter > 50 && store.counts.failAfter < 110);
  });

  it("delays commits on its clock", async () => {
    const { store, clock, inner } = open({ rates: { delay: 1 }, maxDelayMs: 100 });
    const result = store.commit(put("/a"));
    await clock.advance(0);
    assert.equal(await inner.get("/a"), undefined);
    await clock.advance(100);
    assert.equal((await result).isCommitted, true);
  });

  it("compacts early", async () => {
    const { store } = open({ rates: { compact: 1 } });
    const start = await store.revision();
    await store.commit(put("/a"));
    const next = store.watch("/", start, new AbortController().signal).next();
    await assert.rejects(next, CompactedError);
  });

  it("crashes after a number of commits and has them when it recovers", async () => {
    const { store } = open({ crashAfterCommits: 2 });
    const start = await store.revision();
    const watch = store.watch("/", start, new AbortController().signal);
    await store.commit(put("/a"));
    assert.equal((await watch.next()).value?.events.length, 1);
    const waiting = assert.rejects(async () => {
      while ((await watch.next()).done !== true);
    }, isUnavailable);
    await assert.rejects(store.commit(put("/b")), isUnavailable);
    await waiting;
    for (const call of [store.get("/a"), store.range("/"), store.revision(), store.commit(put("/c"))]) await assert.rejects(call, isUnavailable);
    store.recover();
    assert.deepEqual(
      (await store.range("/")).items.map((item) => item.key),
      ["/a", "/b"],
    );
  });
});
