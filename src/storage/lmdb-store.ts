/**
 * The durable embedded store: an append-only log that each group is synced to, and an LMDB file as its checkpoint (why: test/bench/store.ts).
 * Memory holds the index, and the values that the checkpoint does not have or that history needs; the others are read from the map.
 * Layout of the directory: `format`, `checkpoint.mdb` (and LMDB's lock file), `log-REVISION`.
 */
import { fileURLToPath } from "node:url";

import type { Clock } from "../base/clock.ts";
import { silentLog, type Log as Logger } from "../base/log.ts";
import { loopTurn } from "../base/virtual-clock.ts";
import { systemRandom, type Random } from "../base/random.ts";
import type { WindowLimits } from "./event-window.ts";
import { Checkpoint } from "./lmdb/checkpoint.ts";
import { inUse, prepareDirectory } from "./lmdb/directory.ts";
import { openDurableFile, type OpenDurableFile } from "./lmdb/durable-file.ts";
import { Log, messageOf } from "./lmdb/log.ts";
import { runningOwner, thisProcess } from "./lmdb/owner.ts";
import { KeyIndex } from "./key-index.ts";
import { Mvcc } from "./mvcc.ts";
import { defaultWindow, SequencedStore, type Journal } from "./sequenced-store.ts";
import { StoreError, type Store } from "./store.ts";
import { sortKey, type Version } from "./version.ts";

/**
 * Opens the store in `directory`, or makes one there (revision 1). History before the start is compacted. Throws StoreError with one line
 * that says what is wrong and what to do, having changed nothing: `Corrupt` (damage), `Unavailable` (permissions, in use, newer format).
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { directory } = options;
  await prepareDirectory(directory, options.verifyCommand ?? defaultVerifyCommand());
  const checkpoint = openCheckpoint(directory);
  const log = new Log(directory, { openFile: options.openFile ?? openDurableFile, random: options.random ?? systemRandom() });
  try {
    const { versions, revision } = await log.read(checkpoint.revision);
    if (!checkpoint.claim(thisProcess(), (present) => runningOwner(present) === undefined)) throw inUse(directory, runningOwner(checkpoint.owner));
    await log.start(revision);
    const journal = new LogJournal({ ...options, log, checkpoint });
    const mvcc = new Mvcc(revision, options.window ?? defaultWindow, (version) => checkpoint.read(version));
    for (const version of checkpoint.versions()) mvcc.restore(version);
    for (const version of versions) mvcc.restore(version);
    journal.start(mvcc, versions);
    return new SequencedStore({
      backend: "lmdb",
      clock: options.clock,
      journal,
      mvcc,
      ...(options.quotaBytes !== undefined && { quotaBytes: options.quotaBytes }),
    });
  } catch (error) {
    await log.close();
    await checkpoint.close();
    throw error instanceof StoreError ? error : new StoreError("Unavailable", `${directory} cannot be opened: ${messageOf(error)}`, error);
  }
}

export interface LmdbStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly window?: WindowLimits;
  /** Bytes of keys and values above which puts are refused as `Full`; 8 GiB when absent. */
  readonly quotaBytes?: number;
  /** Size of the log in bytes at which it is brought into the checkpoint. */
  readonly checkpointBytes?: number;
  /** Program and arguments that run verify-checkpoint.ts; the directory is appended. */
  readonly verifyCommand?: readonly string[];
  readonly openFile?: OpenDurableFile;
}

/**
 * The log and its checkpoint as one journal. A checkpoint runs beside the commits: the log goes on in a new segment, and the old ones are
 * removed when their newest versions are in LMDB. `#dirty` holds the newest versions that no checkpoint has.
 */
class LogJournal implements Journal {
  readonly #log: Log;
  readonly #checkpoint: Checkpoint;
  readonly #logger: Logger;
  readonly #limitBytes: number;
  #mvcc: Mvcc | undefined;
  #dirty = new KeyIndex();
  #appended: readonly Version[] = [];
  #checkpointing: Promise<void> | undefined;
  /** Log size at which the next checkpoint is due; grows after a failed one. */
  #dueBytes: number;

  constructor(options: LmdbStoreOptions & { log: Log; checkpoint: Checkpoint }) {
    this.#log = options.log;
    this.#checkpoint = options.checkpoint;
    this.#logger = options.logger ?? silentLog;
    this.#limitBytes = options.checkpointBytes ?? defaultCheckpointBytes;
    this.#dueBytes = this.#limitBytes;
  }

  /** `versions` were found in the log. */
  start(mvcc: Mvcc, versions: readonly Version[]): void {
    this.#mvcc = mvcc;
    this.#addDirty(versions);
    mvcc.persisted(this.#checkpoint.revision);
  }

  async append(versions: readonly Version[]): Promise<void> {
    if (this.#log.bytes >= this.#dueBytes && this.#checkpointing === undefined) await this.#startCheckpoint();
    if (this.#log.bytes >= this.#limitBytes * hardLimitFactor) await this.#makeRoom();
    await this.#log.append(versions);
    this.#appended = versions;
  }

  published(): void {
    this.#addDirty(this.#appended);
    this.#appended = [];
  }

  read(version: Version): Uint8Array {
    return this.#checkpoint.read(version);
  }

  async sizeBytes(): Promise<number> {
    return this.#log.bytes + (await this.#checkpoint.sizeBytes());
  }

  async close(): Promise<void> {
    await this.#checkpointing;
    await this.#log.close();
    await this.#checkpoint.close();
  }

  /** Starts a new segment, so that the present ones can go, and the checkpoint beside it. A failure of either leaves the log to grow on. */
  async #startCheckpoint(): Promise<void> {
    try {
      await this.#log.rotate();
    } catch (error) {
      this.#postpone(error);
      return;
    }
    this.#checkpointing = this.#runCheckpoint().finally(() => {
      this.#checkpointing = undefined;
    });
  }

  async #runCheckpoint(): Promise<void> {
    const changed = this.#dirty;
    this.#dirty = new KeyIndex();
    const mvcc = this.#mvcc!;
    const revision = mvcc.revision;
    try {
      await this.#checkpoint.write(changed, revision);
      mvcc.persisted(revision);
      for (const batch of changed.batches(releasedAtOnce)) {
        mvcc.release(batch);
        await loopTurn();
      }
      await this.#log.drop(revision);
      this.#dueBytes = this.#limitBytes;
      this.#logger.debug("Brought the log into the checkpoint", { revision, keys: changed.size });
    } catch (error) {
      this.#mergeDirty(changed);
      this.#postpone(error);
    }
  }

  #addDirty(versions: readonly Version[]): void {
    for (const version of versions) this.#dirty.set(sortKey(version.key), version);
  }

  /** Puts what a failed checkpoint was to write back under what came since. */
  #mergeDirty(older: KeyIndex): void {
    const newer = this.#dirty;
    this.#dirty = older;
    for (const batch of newer.batches(Number.POSITIVE_INFINITY)) this.#addDirty(batch);
  }

  #postpone(error: unknown): void {
    this.#dueBytes = this.#log.bytes + this.#limitBytes / 8;
    this.#logger.warn("Could not bring the log into the checkpoint; the log grows meanwhile", { error });
  }

  /** The log has reached its bound: waits for the checkpoint, tries one more, and then refuses. Throws StoreError `Full`. */
  async #makeRoom(): Promise<void> {
    await this.#checkpointing;
    if (this.#log.bytes < this.#limitBytes * hardLimitFactor) return;
    await this.#startCheckpoint();
    await this.#checkpointing;
    if (this.#log.bytes >= this.#limitBytes * hardLimitFactor) throw new StoreError("Full", "etcdserver: mvcc: database space exceeded");
  }
}

/** Few enough that reading the log at start takes a tenth of a second, enough that keys written often reach LMDB once. */
const defaultCheckpointBytes = 64 * 1024 * 1024;
const releasedAtOnce = 2_000;
/** The log's bound, as a multiple of the size at which a checkpoint is due. */
const hardLimitFactor = 8;

function openCheckpoint(directory: string): Checkpoint {
  try {
    return new Checkpoint(directory);
  } catch (error) {
    throw new StoreError("Unavailable", `${directory} cannot be opened: ${messageOf(error)}`, error);
  }
}

function defaultVerifyCommand(): readonly string[] {
  return [process.execPath, fileURLToPath(new URL("./lmdb/verify-checkpoint.ts", import.meta.url))];
}
