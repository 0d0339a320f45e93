import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { seededRandom } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { openDurableFile, type OpenDurableFile } from "./lmdb/durable-file.ts";
import { openTestStore, putText, testDirectories, textOf } from "./lmdb/test-directories.ts";
import { openLmdbStore } from "./lmdb-store.ts";
import { storeConformance } from "./store-conformance.ts";
import { CompactedError, StoreError, type Store, type StoreEvents } from "./store.ts";

const newDirectory = await testDirectories();

storeConformance("lmdb store", async () => {
  const clock = new VirtualClock();
  return { store: await openLmdbStore({ directory: newDirectory(), clock }), clock };
});

storeConformance("lmdb store that checkpoints all the time", async () => {
  const clock = new VirtualClock();
  return { store: await openLmdbStore({ directory: newDirectory(), clock, checkpointBytes: 500 }), clock };
});

describe("lmdb store", () => {
  it("has everything after it was closed and opened, but no history", async () => {
    const directory = newDirectory();
    const first = await openTestStore(directory);
    const created = await putText(first, "/a", "1", 0);
    await putText(first, "/a", "2", created);
    const last = await putText(first, "/b", "3", 0);
    await first.close();
    await using store = await openTestStore(directory);
    assert.equal(await store.revision(), last);
    const { items } = await store.range("/");
    assert.deepEqual(
      items.map((item) => [item.key, textOf(item.value), item.createRevision, item.modRevision]),
      [
        ["/a", "2", created, created + 1],
        ["/b", "3", last, last],
      ],
    );
    await assert.rejects(store.range("/", { revision: last - 1 }), CompactedError);
    assert.equal(await putText(store, "/c", "4", 0), last + 1);
  });

  it("deletes after the start what expired while it was closed", async () => {
    const directory = newDirectory();
    const clock = new VirtualClock();
    const first = await openLmdbStore({ directory, clock });
    await first.commit({ kind: "put", key: "/e", value: Buffer.from("v"), expected: 0, ttlSeconds: 60 });
    const revision = await first.revision();
    await first.close();
    await clock.advance(61_000);
    await using store = await openLmdbStore({ directory, clock });
    const abort = new AbortController();
    const next = store.watch("/e", revision, abort.signal)[Symbol.asyncIterator]().next();
    await clock.advance(0);
    const batch: StoreEvents = (await next).value;
    assert.deepEqual(
      batch.events.map((event) => [event.kind, event.key]),
      [["delete", "/e"]],
    );
    abort.abort();
  });

  for (const seed of [1, 2, 3]) {
    it(`agrees with a map over random mutations, checkpoints and restarts (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const directory = newDirectory();
      const model = new Map<string, { value: string; revision: number }>();
      for (let round = 0; round < 6; round++) {
        const options = { checkpointBytes: 500 + random.integer(20_000), window: { maxEvents: 1 + random.integer(50), maxBytes: 1_000_000 } };
        await using store = await openTestStore(directory, options);
        for (let step = 0; step < 100; step++) await mutate(store, model, random.integer(8) + 1, random.integer.bind(random));
        const { items } = await store.range("/");
        const expected = [...model].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, { value, revision }]) => [key, value, revision]);
        assert.deepEqual(
          items.map((item) => [item.key, textOf(item.value), item.modRevision]),
          expected,
        );
      }
    });
  }
});

describe("lmdb store on a disk with faults", () => {
  it("refuses a group that does not fit as a whole, and goes on when there is room", async () => {
    const disk = fullDisk();
    await using store = await openTestStore(newDirectory(), { openFile: disk.openFile });
    const base = await putText(store, "/a", "1", 0);
    const abort = new AbortController();
    const watch = store.watch("/", base, abort.signal)[Symbol.asyncIterator]();
    const firstBatch = watch.next();
    disk.room = 10;
    const commits = [
      store.commit({ kind: "put", key: "/a", value: Buffer.from("lost"), expected: base }),
      store.commit({ kind: "put", key: "/b", value: Buffer.from("lost"), expected: 0 }),
      store.commit({ kind: "put", key: "/a", value: Buffer.from("won after all"), expected: base }),
    ];
    disk.onFull = () => {
      disk.room = Number.POSITIVE_INFINITY;
    };
    const [first, second, third] = await Promise.allSettled(commits);
    for (const refused of [first, second]) {
      assert.ok(refused?.status === "rejected" && refused.reason instanceof StoreError && refused.reason.reason === "Full");
      assert.equal(refused.reason.message, "etcdserver: mvcc: database space exceeded");
    }
    assert.deepEqual(third, { status: "fulfilled", value: { isCommitted: true, revision: base + 1 } });
    const { events }: StoreEvents = (await firstBatch).value;
    assert.deepEqual(
      events.map((event) => [event.key, textOf(event.value)]),
      [["/a", "won after all"]],
    );
    assert.equal(await store.get("/b"), undefined);
    abort.abort();
  });

  it("leaves nothing of a refused group for the next start", async () => {
    const disk = fullDisk();
    const directory = newDirectory();
    const store = await openTestStore(directory, { openFile: disk.openFile });
    await putText(store, "/a", "1", 0);
    disk.room = 30;
    await assert.rejects(putText(store, "/b", "2", 0), { reason: "Full" });
    await store.close();
    await using again = await openTestStore(directory);
    assert.deepEqual(
      (await again.range("/")).items.map((item) => item.key),
      ["/a"],
    );
  });

  it("refuses writes until the log can be cut back, and then goes on", async () => {
    const disk = fullDisk();
    await using store = await openTestStore(newDirectory(), { openFile: disk.openFile });
    disk.room = 10;
    disk.canTruncate = false;
    await assert.rejects(putText(store, "/a", "1", 0), { reason: "Unavailable" });
    disk.room = Number.POSITIVE_INFINITY;
    await assert.rejects(putText(store, "/a", "1", 0), { reason: "Unavailable" });
    disk.canTruncate = true;
    assert.equal(await putText(store, "/a", "1", 0), await store.revision());
  });
});

/** Commits `count` random mutations at once, of different keys, and does the same to the model. */
async function mutate(store: Store, model: Map<string, { value: string; revision: number }>, count: number, integer: (bound: number) => number): Promise<void> {
  const keys = new Set(Array.from({ length: count }, () => `/k/${integer(60)}`));
  await Promise.all(
    [...keys].map(async (key) => {
      const expected = model.get(key)?.revision ?? 0;
      const value = `${key} ${integer(1_000_000)} `.repeat(1 + integer(30));
      const isDelete = expected > 0 && integer(3) === 0;
      const result = await store.commit(isDelete ? { kind: "delete", key, expected } : { kind: "put", key, value: Buffer.from(value), expected });
      assert.equal(result.isCommitted, true);
      if (isDelete) model.delete(key);
      else model.set(key, { value, revision: result.revision });
    }),
  );
  const [key] = keys;
  const stored = await store.get(key!);
  assert.equal(stored && textOf(stored.value), model.get(key!)?.value);
}

/** A disk that takes `room` more bytes, and then fails in the middle of a write. */
function fullDisk() {
  const disk = { room: Number.POSITIVE_INFINITY, canTruncate: true, onFull: () => {}, openFile: undefined as unknown as OpenDurableFile };
  disk.openFile = async (path, mode) => {
    const file = await openDurableFile(path, mode);
    return {
      async write(bytes, offset) {
        if (bytes.length <= disk.room) {
          disk.room -= bytes.length;
          return file.write(bytes, offset);
        }
        await file.write(bytes.subarray(0, disk.room), offset);
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      },
      async truncate(length) {
        if (!disk.canTruncate) throw Object.assign(new Error("EIO: i/o error, ftruncate"), { code: "EIO" });
        await file.truncate(length);
        disk.onFull();
      },
      close: () => file.close(),
    };
  };
  return disk;
}
