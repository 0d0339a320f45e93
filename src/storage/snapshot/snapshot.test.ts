import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { openTestStore, putText, testDirectories, textOf } from "../lmdb/test-directories.ts";
import { openMemoryStore } from "../memory-store.ts";
import { CompactedError, type Store } from "../store.ts";
import { SnapshotError, readSnapshot, writeSnapshot } from "./format.ts";
import { restoreSnapshot } from "./restore.ts";

const newDirectory = await testDirectories();

describe("snapshot", () => {
  it("restores every key with its value, revisions and expiry, far above what clients have seen", async () => {
    const clock = new VirtualClock(1_000_000);
    await using store = openMemoryStore({ clock });
    for (let index = 0; index < 1_200; index++) await putText(store, `/k${index}`, `v${index}`, 0);
    await putText(store, "/k7", "again", (await store.get("/k7"))!.modRevision);
    await putText(store, "/ü", "", 0);
    await store.commit({ kind: "delete", key: "/k8", expected: (await store.get("/k8"))!.modRevision });
    await store.commit({ kind: "put", key: "/short", value: Buffer.from("s"), expected: 0, ttlSeconds: 60 });
    const revision = await store.revision();
    const directory = newDirectory();
    assert.deepEqual(await restoreSnapshot(directory, writeSnapshot(store)), { revision, count: 1_201 });
    assert.deepEqual(statSync(directory).mode & 0o777, 0o700);

    const restored = await openTestStore(directory, { clock });
    assert.deepEqual(await itemsOf(restored), await itemsOf(store));
    const first = await putText(restored, "/new", "n", 0);
    assert.equal(first, revision + 1_000_000_001);
    await assert.rejects(restored.range("/", { revision }), CompactedError);
    const gone = restored.watch("/short", first, new AbortController().signal)[Symbol.asyncIterator]().next();
    await clock.advance(61_000);
    await gone;
    assert.equal(await restored.get("/short"), undefined);
    await restored.close();
    await using again = await openTestStore(directory, { clock });
    assert.equal((await again.get("/new"))!.modRevision, first);
  });

  it("is of one revision, whatever is written meanwhile", async () => {
    await using store = await openTestStore(newDirectory(), { checkpointBytes: 2_000 });
    for (let index = 0; index < 1_500; index++) await putText(store, `/k${String(index).padStart(4, "0")}`, "before", 0);
    const before = await itemsOf(store);
    const revision = await store.revision();
    const chunks: Buffer[] = [];
    for await (const chunk of writeSnapshot(store)) {
      chunks.push(chunk);
      for (const { key, modRevision } of (await store.range("/", { limit: 100 })).items) await putText(store, key, "after", modRevision);
      await store.commit({ kind: "delete", key: "/k1400", expected: (await store.get("/k1400"))?.modRevision ?? 0 });
    }
    const directory = newDirectory();
    assert.deepEqual(await restoreSnapshot(directory, from(chunks)), { revision, count: 1_500 });
    await using restored = await openTestStore(directory);
    assert.deepEqual(await itemsOf(restored), before);
  });

  it("of nothing is a snapshot, too", async () => {
    await using store = openMemoryStore({ clock: new VirtualClock() });
    assert.deepEqual(await restoreSnapshot(newDirectory(), writeSnapshot(store)), { revision: 1, count: 0 });
  });

  it("that is cut off, damaged, newer or none is refused, and nothing is left", async () => {
    const whole = await smallSnapshot();
    const parent = newDirectory();
    await mkdir(parent);
    const directory = path.join(parent, "store");
    const refused = async (bytes: Buffer, reason: string, chunkBytes = bytes.length) => {
      await assert.rejects(restoreSnapshot(directory, from(pieces(bytes, chunkBytes))), (error) => error instanceof SnapshotError && error.reason === reason);
      assert.deepEqual(readdirSync(parent), []);
    };
    for (let length = 1; length < whole.length; length += 7) await refused(whole.subarray(0, length), "Truncated", 5);
    for (let at = 19; at < whole.length; at += 5) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1;
      await assert.rejects(
        restoreSnapshot(directory, from([bytes])),
        (error) => error instanceof SnapshotError && ["Damaged", "Truncated"].includes(error.reason),
        `byte ${at}`,
      );
      assert.equal(existsSync(directory), false);
    }
    await refused(Buffer.concat([whole, Buffer.from("x")]), "Damaged");
    await refused(Buffer.from(whole.toString("latin1").replace("snapshot 1", "snapshot 2"), "latin1"), "Newer");
    await refused(Buffer.from("SQLite format 3\0 and so on"), "NotASnapshot");
    await refused(Buffer.alloc(0), "NotASnapshot");
    assert.deepEqual(await restoreSnapshot(directory, from(pieces(whole, 1))), { revision: 4, count: 3 });
  });

  it("goes into no directory that holds something", async () => {
    const directory = newDirectory();
    await (await openTestStore(directory)).close();
    const names = readdirSync(directory);
    await assert.rejects(restoreSnapshot(directory, from([await smallSnapshot()])), {
      reason: "Unavailable",
      message: `${directory} holds a store already: move it away, or choose another data directory`,
    });
    assert.deepEqual(readdirSync(directory), names);
    const empty = newDirectory();
    await mkdir(empty);
    await restoreSnapshot(empty, from([await smallSnapshot()]));
  });

  it("that is read without being restored tells what it holds", async () => {
    const versions = readSnapshot(from([await smallSnapshot()]));
    assert.deepEqual(
      (await versions.next()).value,
      [
        ["/a", "1"],
        ["/b", "2"],
        ["/c", "3"],
      ].map(([key, value], index) => ({
        key,
        value: new Uint8Array(Buffer.from(value!)),
        valueBytes: 1,
        createRevision: index + 2,
        modRevision: index + 2,
        expiresAtMs: 0,
        isDeleted: false,
        previous: undefined,
      })),
    );
    assert.deepEqual(await versions.next(), { done: true, value: { revision: 4, count: 3 } });
  });
});

async function smallSnapshot(): Promise<Buffer> {
  await using store = openMemoryStore({ clock: new VirtualClock() });
  for (const [key, value] of [
    ["/a", "1"],
    ["/b", "2"],
    ["/c", "3"],
  ] as const)
    await putText(store, key, value, 0);
  return Buffer.concat(await Array.fromAsync(writeSnapshot(store)));
}

async function itemsOf(store: Store) {
  const { items } = await store.range("/");
  return items.map(({ value, ...rest }) => ({ ...rest, value: textOf(value) }));
}

async function* from(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

function pieces(bytes: Buffer, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) => bytes.subarray(index * length, (index + 1) * length));
}
