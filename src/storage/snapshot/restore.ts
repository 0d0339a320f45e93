import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyIndex } from "../key-index.ts";
import { Checkpoint, checkpointFile } from "../lmdb/checkpoint.ts";
import { writeFormat } from "../lmdb/format-file.ts";
import { syncDirectory } from "../lmdb/durable-file.ts";
import { StoreError } from "../store.ts";
import { sortKey } from "../version.ts";
import { readSnapshot } from "./format.ts";
import type { SnapshotSummary } from "./format.ts";

/**
 * Makes the embedded store of a snapshot in `directory`, which must not exist or be empty. Objects keep their revisions; the store goes on
 * at a revision far above all that clients can have seen since, so that what they know from then is told as too old, never mistaken for
 * something else. Throws StoreError `Unavailable` when there is a store, SnapshotError; `directory` is then as it was.
 */
export async function restoreSnapshot(directory: string, bytes: AsyncIterable<Uint8Array>): Promise<SnapshotSummary> {
  const present = await readdir(directory).catch(() => undefined);
  if (present !== undefined && present.length > 0)
    throw new StoreError("Unavailable", `${directory} holds a store already: move it away, or choose another data directory`);
  const draft = `${directory}.new-${process.pid}`;
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    const summary = await fill(draft, bytes);
    if (present !== undefined) await rmdir(directory);
    await rename(draft, directory);
    await syncDirectory(dirname(directory));
    return summary;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Revisions between the snapshot's and the restored store's next one: more than a cluster writes in years. */
const revisionGap = 1_000_000_000;

async function fill(directory: string, bytes: AsyncIterable<Uint8Array>): Promise<SnapshotSummary> {
  await writeFormat(directory);
  const checkpoint = new Checkpoint(directory);
  try {
    const batches = readSnapshot(bytes);
    for (;;) {
      const next = await batches.next();
      if (next.done === true) {
        await checkpoint.write(new KeyIndex(), next.value.revision + revisionGap);
        return next.value;
      }
      const index = new KeyIndex();
      for (const version of next.value) index.set(sortKey(version.key), version);
      await checkpoint.write(index, 0);
    }
  } finally {
    await checkpoint.close();
    await rm(join(directory, `${checkpointFile}-lock`), { force: true });
  }
}
