/**
 * Where state lives: keys, bytes and revisions; knows nothing of kinds. Memory, LMDB and etcd implement it, and one conformance suite
 * (store-conformance.ts) runs against each.
 *
 * A revision is a number that grows by one with each committed mutation of the whole store (etcd's MVCC model). A mutation names the
 * state it was made for; when the state has moved on it changes nothing and returns the newest one.
 */

export interface StoredValue {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the mutation that created the key, and of the one that wrote this value. */
  readonly createRevision: number;
  readonly modRevision: number;
  /** Wall-clock time at which an embedded store deletes the key by itself; absent when it does not. */
  readonly expiresAtMs?: number;
}

export type Mutation =
  /**
   * `expected` is the modification revision that must be current; 0 means that the key must be absent. The store keeps `value`, which must
   * not change from then on. With `ttlSeconds` the key is deleted by itself that much later, unless it is written again before.
   */
  | { readonly kind: "put"; readonly key: string; readonly value: Uint8Array; readonly expected: number; readonly ttlSeconds?: number }
  | { readonly kind: "delete"; readonly key: string; readonly expected: number };

export type MutationResult =
  | { readonly isCommitted: true; readonly revision: number }
  /** Nothing was written: `current` is what the key holds now (undefined: absent). */
  | { readonly isCommitted: false; readonly current: StoredValue | undefined; readonly revision: number };

export interface StoreEvent {
  readonly kind: "put" | "delete";
  readonly key: string;
  /** The new value; for a delete the last one before it. */
  readonly value: Uint8Array;
  readonly revision: number;
  /** Creation revision of the key; equal to `revision` when this event created it. */
  readonly createRevision: number;
}

/** Events in order of revision; `revision` is how far the watcher has seen (an empty batch only moves it). */
export interface StoreEvents {
  readonly events: readonly StoreEvent[];
  readonly revision: number;
}

export interface RangeOptions {
  /** First key to return (inclusive); the prefix's first key when absent. */
  readonly from?: string;
  readonly limit?: number;
  /** Read as of this revision; now when absent. Throws CompactedError when it is gone, StoreError when it is still to come. */
  readonly revision?: number;
}

export interface RangeResult {
  readonly items: readonly StoredValue[];
  /** Whether keys of the prefix remain behind the last item. */
  readonly hasMore: boolean;
  /** Revision the result is consistent with. */
  readonly revision: number;
}

export interface Store extends AsyncDisposable {
  /** `memory`, `lmdb` or `etcd`. */
  readonly backend: string;
  /** Whether others write to it, too: what one has seen of it may be behind what somebody else was told. */
  readonly isShared?: boolean;
  /** The store whose values are as they lie at rest, where this one seals and opens them. */
  readonly atRest?: Store;
  /** The newest committed revision, read linearizably. Watches under way reach at least it, by an empty batch when nothing concerns them. */
  revision(): Promise<number>;
  get(key: string): Promise<StoredValue | undefined>;
  /** Keys under `prefix` in bytewise order of their UTF-8. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>;
  /**
   * Applies one mutation; resolves after it is durable and before any later mutation of the same key is answered. Mutations of one turn
   * of the loop are committed as a group. Throws StoreError.
   */
  commit(mutation: Mutation): Promise<MutationResult>;
  /**
   * Events under `prefix` with a revision above `after`. Ends when `signal` aborts. Throws CompactedError when `after` is older than
   * what the store still keeps, StoreError when the backend fails.
   */
  watch(prefix: string, after: number, signal: AbortSignal): AsyncIterable<StoreEvents>;
  /** Whether what is stored under `key` would be stored otherwise today, though it says the same (encryption at rest). Absent: never. */
  isStale?(key: string): Promise<boolean>;
  /** Forgets history up to `revision`: later reads and watches below it throw CompactedError. */
  compact(revision: number): Promise<void>;
  /** Bytes the backend occupies on disk or in memory (metric `apiserver_storage_size_bytes`). */
  sizeBytes(): Promise<number>;
  close(): Promise<void>;
}

/** A revision that the store has forgotten. */
export class CompactedError extends Error {
  override name = "CompactedError";
  readonly reason = "Compacted";
  readonly compactRevision: number;
  constructor(compactRevision: number) {
    super(`the revision is older than the oldest kept one (${compactRevision})`);
    this.compactRevision = compactRevision;
  }
}

/**
 * The backend could not do its work. `reason`: `Full` (disk or quota; nothing was written), `TooLarge` (the value exceeds the limit),
 * `Unavailable` (try again), `Corrupt` (checksum or structure), `Closed`.
 */
export class StoreError extends Error {
  override name = "StoreError";
  readonly reason: "Full" | "TooLarge" | "Unavailable" | "Corrupt" | "Closed";
  constructor(reason: StoreError["reason"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
