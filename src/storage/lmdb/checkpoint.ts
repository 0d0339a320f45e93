/**
 * The checkpoint: the newest version of every key up to a revision, in one LMDB file. Driven by the journal. It is brought up to date in
 * several transactions, the last of which moves the revision; a crash between them leaves newer versions beside that revision, which
 * the log then writes once more. Never a writable map; commits are flushed before they are reported.
 */
import { stat, truncate } from "node:fs/promises";
import { join } from "node:path";

import { open, type Database, type RootDatabase } from "lmdb";

import type { KeyIndex } from "../key-index.ts";
import { StoreError } from "../store.ts";
import type { Version } from "../version.ts";
import { messageOf } from "./log.ts";
import { checkpointValue, decodeCheckpointHeader, encodeCheckpointRecord } from "./record.ts";

export class Checkpoint {
  readonly path: string;
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #values: Database<Buffer, Buffer>;
  readonly #meta: Database<string, string>;
  readonly #openedTransaction: number;
  #isClaimed = false;

  /** Opens or makes the file. The caller has made sure that an existing one is sound (verify-checkpoint.ts). */
  constructor(directory: string, options: { readOnly?: boolean; fileName?: string } = {}) {
    this.path = join(directory, options.fileName ?? checkpointFile);
    this.#root = open<Buffer, Buffer>(this.path, {
      noSubdir: true,
      maxDbs: 2,
      encoding: "binary",
      keyEncoding: "binary",
      cache: false,
      readOnly: options.readOnly ?? false,
      // With overlapping sync a commit would be reported before it is on the disk.
      overlappingSync: false,
      // Batching by turns makes a promise of its own that nobody waits for, whose rejection would end the process.
      eventTurnBatching: false,
    });
    this.#values = this.#root.openDB<Buffer, Buffer>("values", { encoding: "binary", keyEncoding: "binary" });
    this.#meta = this.#root.openDB<string, string>("meta", { encoding: "string" });
    this.#openedTransaction = this.#stats().lastTxnId;
  }

  /** Everything up to this revision is in the checkpoint. */
  get revision(): number {
    return Number(this.#meta.get("revision") ?? 0);
  }

  /** The process that has the directory open, as `claim` recorded it. */
  get owner(): string | undefined {
    return this.#meta.get("owner");
  }

  /**
   * Records `owner` if `mayTake` agrees to the one recorded and nobody has written since this was opened, so that what was read before
   * still holds. Returns whether it did. One process at a time gets to do this.
   */
  claim(owner: string, mayTake: (present: string | undefined) => boolean): boolean {
    return this.#root.transactionSync(() => {
      if (this.#root.getWriteTxnId() !== this.#openedTransaction + 1 || !mayTake(this.#meta.get("owner"))) return false;
      this.#meta.putSync("owner", owner);
      this.#isClaimed = true;
      return true;
    });
  }

  /** Every key and its version, without values, in order of keys. */
  *versions(): Generator<Version> {
    for (const { key, value } of this.#values.getRange()) yield decodeCheckpointHeader(key, value);
  }

  /** Every key and its raw record. */
  *records(): Generator<{ key: Buffer; record: Buffer }> {
    for (const { key, value } of this.#values.getRange()) yield { key, record: value };
  }

  /** The value of `version`. Throws StoreError `Corrupt`. */
  read(version: Version): Uint8Array {
    const key = Buffer.from(version.key, "utf8");
    return checkpointValue(key, this.#values.getBinary(key), version.modRevision);
  }

  /**
   * Puts the newest versions of `changed` in and moves the revision to `revision`. Goes in order of keys, since neighbours share pages and
   * each transaction writes the pages it touched. Rejects when a transaction fails; it may be run again.
   */
  async write(changed: KeyIndex, revision: number): Promise<void> {
    for (const batch of changed.batches(batchLimit)) {
      for (let start = 0; start < batch.length;) {
        const end = endOfTransaction(batch, start);
        await this.#commit(() => this.#put(batch.slice(start, end)));
        start = end;
      }
    }
    await this.#commit(() => void this.#meta.put("revision", String(revision)));
    await this.#extend();
    // Reads of this turn on must see what was written, since memory now gives up its copies.
    this.#root.resetReadTxn();
  }

  async sizeBytes(): Promise<number> {
    return (await stat(this.path)).size;
  }

  /** Ends the ownership, if it was claimed, and closes the file. */
  async close(): Promise<void> {
    // On a full disk the record stays; it names a process that has ended then.
    if (this.#isClaimed) await this.#commit(() => void this.#meta.remove("owner")).catch(() => undefined);
    await this.#root.close();
  }

  #put(versions: readonly Version[]): void {
    for (const version of versions) {
      const key = Buffer.from(version.key, "utf8");
      if (version.isDeleted) void this.#values.remove(key);
      else void this.#values.put(key, encodeCheckpointRecord(key, version));
    }
  }

  async #commit(action: () => void): Promise<void> {
    try {
      await this.#root.batch(action);
    } catch (error) {
      // The promise of the cause rejects in any case; nobody else waits for it.
      const cause = await Promise.resolve((error as { commitError?: Promise<never> }).commitError).catch((commitError: unknown) => commitError);
      throw new StoreError("Unavailable", `the checkpoint cannot be written: ${messageOf(cause ?? error)}`, cause ?? error);
    }
  }

  /** LMDB may leave free pages at the end unwritten; the file is then shorter than its meta page says, which the check at start refuses. */
  async #extend(): Promise<void> {
    const { pageSize, lastPageNumber } = this.#stats();
    const expectedBytes = (lastPageNumber + 1) * pageSize;
    if ((await stat(this.path)).size < expectedBytes) await truncate(this.path, expectedBytes);
  }

  #stats(): { pageSize: number; lastPageNumber: number; lastTxnId: number } {
    return this.#root.getStats() as { pageSize: number; lastPageNumber: number; lastTxnId: number };
  }
}

export const checkpointFile = "checkpoint.mdb";

/** Keys and bytes of one transaction, which is put together in one turn of the loop (about 4 ms). */
const batchLimit = 1_000;
const batchLimitBytes = 4 * 1024 * 1024;

function endOfTransaction(versions: readonly Version[], start: number): number {
  let end = start;
  for (let bytes = 0; end < versions.length && bytes < batchLimitBytes; end++) bytes += versions[end]!.valueBytes;
  return end;
}
