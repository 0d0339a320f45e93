/** Directories and stores for the tests of the durable store. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { VirtualClock } from "../../base/virtual-clock.ts";
import { openLmdbStore, type LmdbStoreOptions } from "../lmdb-store.ts";
import type { Store } from "../store.ts";

/** Returns a function that names directories that are not there yet, and removes them after the tests of the file. */
export async function testDirectories(): Promise<() => string> {
  const root = await mkdtemp(join(tmpdir(), "coracle-lmdb-store-"));
  after(() => rm(root, { recursive: true }));
  let count = 0;
  return () => join(root, String(count++));
}

/** Opens a store on a clock of its own. */
export function openTestStore(directory: string, options: Partial<LmdbStoreOptions> = {}): Promise<Store> {
  return openLmdbStore({ directory, clock: new VirtualClock(), ...options });
}

/** Commits a put that must succeed, and returns its revision. */
export async function putText(store: Store, key: string, value: string, expected: number): Promise<number> {
  const result = await store.commit({ kind: "put", key, value: Buffer.from(value), expected });
  assert.equal(result.isCommitted, true);
  return result.revision;
}

export const textOf = (value: Uint8Array): string => new TextDecoder().decode(value);
