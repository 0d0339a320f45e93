/**
 * The one sequencer of an embedded store. Mutations wait in a queue; a turn takes a group of them, checks each against the newest state
 * (earlier ones of the group included), hands what it wrote to the journal and, when the journal says that it is durable, publishes the
 * group to readers and watchers and answers it. One group is under way at a time. A group that the journal refuses is taken back whole:
 * its writers get the error; those of the group who were told that the state had moved on are checked again.
 */
import type { Clock } from "../base/clock.ts";
import { loopTurn } from "../base/virtual-clock.ts";
import { Expiry } from "./expiry.ts";
import type { WindowLimits } from "./event-window.ts";
import type { Mvcc } from "./mvcc.ts";
import {
  StoreError,
  type Mutation,
  type MutationResult,
  type RangeOptions,
  type RangeResult,
  type Store,
  type StoredValue,
  type StoreEvents,
} from "./store.ts";
import type { Version } from "./version.ts";
import { WatchFeed } from "./watch-feed.ts";

export class SequencedStore implements Store {
  readonly backend: string;
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #quotaBytes: number;
  readonly #mvcc: Mvcc;
  readonly #feed: WatchFeed;
  readonly #expiry: Expiry;
  #queue: Waiting[] = [];
  #queuedBytes = 0;
  /** Whether a group is under way, or about to be taken. */
  #isRunning = false;
  #closing: Promise<void> | undefined;
  #failure: StoreError | undefined;
  #idle: (() => void) | undefined;

  constructor(options: SequencedStoreOptions) {
    this.backend = options.backend;
    this.#clock = options.clock;
    this.#journal = options.journal;
    this.#quotaBytes = options.quotaBytes ?? defaultQuotaBytes;
    this.#mvcc = options.mvcc;
    this.#feed = new WatchFeed(options.mvcc.window);
    this.#expiry = new Expiry(options.clock, (key) => this.#expire(key));
    this.#mvcc.scan((version) => this.#trackExpiry(version));
  }

  async revision(): Promise<number> {
    this.#check();
    return this.#mvcc.revision;
  }

  async get(key: string): Promise<StoredValue | undefined> {
    this.#check();
    const version = this.#mvcc.get(key);
    return version === undefined ? undefined : this.#stored(version);
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.#check();
    const { versions, hasMore, revision } = this.#mvcc.range(prefix, options);
    const items: StoredValue[] = [];
    let readFromDisk = 0;
    for (const version of versions) {
      // Versions stay readable across turns: one that is overwritten meanwhile gets its bytes first.
      if (version.value === undefined && ++readFromDisk % readsPerTurn === 0) {
        await loopTurn();
        this.#check();
      }
      items.push(this.#stored(version));
    }
    return { items, hasMore, revision };
  }

  commit(mutation: Mutation): Promise<MutationResult> {
    return new Promise((resolve, reject) => {
      this.#check();
      const bytes = mutation.key.length + (mutation.kind === "put" ? mutation.value.length : 0);
      if (bytes > requestLimitBytes || (mutation.key.length * 3 > keyLimitBytes && Buffer.byteLength(mutation.key) > keyLimitBytes)) {
        throw new StoreError("TooLarge", "etcdserver: request is too large");
      }
      if (this.#queue.length >= queueLimit || this.#queuedBytes + bytes > queueLimitBytes) {
        throw new StoreError("Unavailable", "etcdserver: too many requests");
      }
      this.#queue.push({ mutation, bytes, resolve, reject });
      this.#queuedBytes += bytes;
      this.#start();
    });
  }

  watch(prefix: string, after: number, signal: AbortSignal): AsyncIterable<StoreEvents> {
    return this.#feed.watch(prefix, after, signal);
  }

  async compact(revision: number): Promise<void> {
    this.#check();
    this.#mvcc.compact(revision);
  }

  async sizeBytes(): Promise<number> {
    this.#check();
    return (await this.#journal.sizeBytes?.()) ?? this.#mvcc.liveBytes;
  }

  /** Lets the group under way finish, refuses what waits behind it, ends the watchers and closes the journal. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const closed = new StoreError("Closed", "the store is closed");
    this.#failure ??= closed;
    this.#expiry.close();
    this.#refuseQueue(closed);
    if (this.#isRunning) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#feed.fail(closed);
    await this.#journal.close?.();
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(() => void this.#run());
  }

  /** Commits groups until the queue is empty. Every error reaches the writers of its group. */
  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      const staged = this.#stageGroup(group);
      try {
        // A journal in memory is done at once: awaiting it would only spread a group over more promise jobs.
        const durable = staged.versions.length === 0 ? undefined : this.#journal.append(staged.versions);
        if (durable !== undefined) await durable;
      } catch (error) {
        this.#takeBack(group, staged, error);
        continue;
      }
      this.#publish(group, staged);
    }
    this.#isRunning = false;
    this.#idle?.();
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && count < groupLimit && bytes < groupLimitBytes) bytes += this.#queue[count++]!.bytes;
    this.#queuedBytes -= bytes;
    return this.#queue.splice(0, count);
  }

  #stageGroup(group: readonly Waiting[]): StagedGroup {
    const versions: Version[] = [];
    const nowMs = this.#clock.nowMs();
    const outcomes = group.map(({ mutation }): Outcome => {
      const lifetimeMs = mutation.kind === "put" ? (mutation.ttlSeconds ?? 0) * 1000 : 0;
      try {
        if (mutation.kind === "put" && this.#mvcc.liveBytes + mutation.value.length > this.#quotaBytes) {
          throw new StoreError("Full", "etcdserver: mvcc: database space exceeded");
        }
        const version = this.#mvcc.stage(mutation, lifetimeMs > 0 ? nowMs + lifetimeMs : 0);
        if (version !== undefined) versions.push(version);
        return version ?? { current: this.#mvcc.get(mutation.key, { includeStaged: true }) };
      } catch (error) {
        return { error };
      }
    });
    return { versions, outcomes };
  }

  #publish(group: readonly Waiting[], { versions, outcomes }: StagedGroup): void {
    this.#mvcc.publish();
    for (const version of versions) this.#trackExpiry(version);
    for (const [index, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[index]!;
      try {
        if ("error" in outcome) throw outcome.error;
        if ("modRevision" in outcome) resolve({ isCommitted: true, revision: outcome.modRevision });
        else resolve({ isCommitted: false, current: outcome.current && this.#stored(outcome.current), revision: this.#mvcc.revision });
      } catch (error) {
        reject(error);
      }
    }
    if (versions.length > 0) this.#feed.publish();
    this.#journal.published?.();
  }

  #takeBack(group: readonly Waiting[], { outcomes }: StagedGroup, error: unknown): void {
    this.#mvcc.takeBack();
    const again: Waiting[] = [];
    for (const [index, waiting] of group.entries()) {
      const outcome = outcomes[index]!;
      if ("modRevision" in outcome) waiting.reject(error);
      else again.push(waiting);
    }
    this.#queue.unshift(...again);
    for (const { bytes } of again) this.#queuedBytes += bytes;
    if (this.#failure !== undefined) this.#refuseQueue(this.#failure);
  }

  #refuseQueue(error: StoreError): void {
    for (const { reject } of this.#queue.splice(0)) reject(error);
    this.#queuedBytes = 0;
  }

  #stored(version: Version): StoredValue {
    const value = version.value ?? this.#journal.read!(version);
    const { key, createRevision, modRevision, expiresAtMs } = version;
    return { key, value, createRevision, modRevision, ...(expiresAtMs > 0 && { expiresAtMs }) };
  }

  #trackExpiry(version: Version): void {
    if (version.expiresAtMs > 0) this.#expiry.track(version.key, version.expiresAtMs);
  }

  /** Deletes `key` when its time has come, or looks again when it comes; a refused deletion is tried again later. */
  #expire(key: string): void {
    const version = this.#mvcc.get(key);
    if (version === undefined || version.expiresAtMs === 0) return;
    if (version.expiresAtMs > this.#clock.nowMs()) {
      this.#expiry.track(key, version.expiresAtMs);
      return;
    }
    this.commit({ kind: "delete", key, expected: version.modRevision }).catch(() => {
      if (this.#failure === undefined) this.#expiry.track(key, this.#clock.nowMs() + expiryRetryMs);
    });
  }
}

/** What makes a sequenced store durable. Without `append` doing anything asynchronous, everything completes inside JavaScript. */
export interface Journal {
  /** Resolves when `versions`, in order of revision, are durable; rejects with StoreError when none of them will ever be seen. */
  append(versions: readonly Version[]): Promise<void> | undefined;
  /** Called after an appended group became visible. */
  published?(): void;
  /** The bytes of a version that gave up its own. Throws StoreError `Corrupt`. */
  read?(version: Version): Uint8Array;
  sizeBytes?(): Promise<number>;
  close?(): Promise<void>;
}

export interface SequencedStoreOptions {
  readonly backend: string;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly mvcc: Mvcc;
  /** Bytes of keys and values above which puts are refused as `Full`; deletions go on. */
  readonly quotaBytes?: number;
}

type Waiting = {
  readonly mutation: Mutation;
  readonly bytes: number;
  readonly resolve: (result: MutationResult) => void;
  readonly reject: (error: unknown) => void;
};
/** The version written, or the state found instead, or why the state could not be read. */
type Outcome = Version | { readonly current: Version | undefined } | { readonly error: unknown };
type StagedGroup = { readonly versions: readonly Version[]; readonly outcomes: readonly Outcome[] };

/** History kept when nobody compacts: more than five minutes of a busy cluster. */
export const defaultWindow: WindowLimits = { maxEvents: 200_000, maxBytes: 128 * 1024 * 1024 };

/** etcd's `--max-request-bytes`. */
const requestLimitBytes = 1.5 * 1024 * 1024;
/** LMDB's limit is 1978 bytes; Kubernetes' names make keys of at most about 700. */
const keyLimitBytes = 1_900;
/** The largest size that etcd's documentation suggests for `--quota-backend-bytes`. */
const defaultQuotaBytes = 8 * 1024 * 1024 * 1024;
/** What may wait; beyond it writers are refused, as etcd does. */
const queueLimit = 10_000;
const queueLimitBytes = 256 * 1024 * 1024;
const groupLimit = 1_000;
const groupLimitBytes = 8 * 1024 * 1024;
/** Values read from disk in one turn of the loop (about 3 µs each). */
const readsPerTurn = 500;
const expiryRetryMs = 10_000;
