/** What is on the disk follows what is stored, not how often it was written. */
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { openLmdbStore } from "../lmdb-store.ts";
import { testDirectories } from "./test-directories.ts";

const newDirectory = await testDirectories();

test("the store's files do not grow without end, however often keys are written, made and deleted", async () => {
  const directory = newDirectory();
  const clock = new VirtualClock();
  await using store = await openLmdbStore({ directory, clock, checkpointBytes: 256 * 1024 });
  const bytesOnDisk = () => readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  const value = Buffer.alloc(1024, "v");
  const revisions = new Map<string, number>();
  const put = async (key: string) => {
    const result = await store.commit({ kind: "put", key, value, expected: revisions.get(key) ?? 0 });
    assert.ok(result.isCommitted);
    revisions.set(key, result.revision);
  };
  const remove = async (key: string) => {
    assert.ok((await store.commit({ kind: "delete", key, expected: revisions.get(key)! })).isCommitted);
    revisions.delete(key);
  };
  const sizes: number[] = [];
  for (let round = 0; round < 60; round++) {
    await Promise.all(Array.from({ length: 200 }, (_, index) => put(`/kept/${index}`)));
    await Promise.all(Array.from({ length: 200 }, (_, index) => put(`/short/${round}-${index}`)));
    await Promise.all(Array.from({ length: 200 }, (_, index) => remove(`/short/${round}-${index}`)));
    await store.compact(await store.revision());
    sizes.push(bytesOnDisk());
  }
  // 24 MB were written for 200 kB that are there.
  const early = Math.max(...sizes.slice(10, 30));
  const late = Math.max(...sizes.slice(40));
  assert.ok(late <= early * 1.7, `${early} bytes, later ${late}`);
  assert.ok(late < 4 * 1024 * 1024, `${late} bytes`);
});
