/**
 * Versions of every key, and which revision is committed. Driven by the sequencer of a store, one group of mutations at a time: `stage`
 * each, then `publish` or `takeBack` the group. Readers see committed versions only, staged ones hide behind their revision.
 * Invariants: a revision that is taken back is given out again; the newest version of a key has its highest revision; versions older
 * than the window are unreachable; a deletion leaves the index when its event leaves the window.
 */
import { invariant } from "../base/invariant.ts";
import { EventWindow, type WindowLimits } from "./event-window.ts";
import { KeyIndex } from "./key-index.ts";
import { CompactedError, StoreError, type Mutation, type RangeOptions, type StoreEvent } from "./store.ts";
import { sortKey, versionAt, type Version } from "./version.ts";

export class Mvcc {
  readonly window: EventWindow;
  readonly #index = new KeyIndex();
  readonly #valueOf: (version: Version) => Uint8Array;
  #staged: { key: string; version: Version; event: StoreEvent }[] = [];
  /** Versions up to this revision can be read back from a checkpoint, so that their bytes need not stay here. */
  #persistedRevision = 0;
  #liveBytes = 0;

  /** `revision` is the newest committed one; `valueOf` returns the bytes of a version, from the checkpoint when it no longer has them. */
  constructor(revision: number, limits: WindowLimits, valueOf: (version: Version) => Uint8Array) {
    this.window = new EventWindow(revision, limits, (version) => this.#forget(version));
    this.#valueOf = valueOf;
  }

  get revision(): number {
    return this.window.last;
  }

  /** Bytes of the newest values and keys, and an estimate of what each key costs. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Puts back a version that was committed before the start. */
  restore(version: Version): void {
    const key = sortKey(version.key);
    const before = this.#index.get(key);
    if (before !== undefined) this.#liveBytes -= versionBytes(before);
    if (version.isDeleted) this.#index.delete(key);
    else {
      this.#index.set(key, version);
      this.#liveBytes += versionBytes(version);
    }
  }

  /** Every committed version that exists now, in order of keys. */
  scan(visit: (version: Version) => void): void {
    this.#index.scan("", (_key, newest) => {
      const version = versionAt(newest, this.revision);
      if (version !== undefined) visit(version);
      return true;
    });
  }

  /** The committed state of `key`, with what is staged when `includeStaged`. */
  get(key: string, options: { includeStaged: boolean } = { includeStaged: false }): Version | undefined {
    return versionAt(this.#index.get(sortKey(key)), options.includeStaged ? Number.POSITIVE_INFINITY : this.revision);
  }

  /** Versions under `prefix` as of a revision, in order. Throws CompactedError, and StoreError for a revision that is still to come. */
  range(prefix: string, options: RangeOptions): { versions: Version[]; hasMore: boolean; revision: number } {
    const revision = options.revision ?? this.revision;
    if (revision < this.window.forgotten) throw new CompactedError(this.window.forgotten);
    if (revision > this.revision) throw new StoreError("Unavailable", "etcdserver: mvcc: required revision is a future revision");
    const start = sortKey(prefix);
    const from = options.from === undefined ? start : sortKey(options.from);
    const versions: Version[] = [];
    const limit = options.limit ?? Number.POSITIVE_INFINITY;
    let hasMore = false;
    this.#index.scan(from > start ? from : start, (key, newest) => {
      if (!key.startsWith(start)) return false;
      const version = versionAt(newest, revision);
      if (version === undefined) return true;
      hasMore = versions.length >= limit;
      if (hasMore) return false;
      versions.push(version);
      return true;
    });
    return { versions, hasMore, revision };
  }

  /**
   * Applies `mutation` to the newest state, staged ones included, and returns the new version; undefined when that state is not the
   * expected one. `expiresAtMs` is 0 for a key that does not expire.
   */
  stage(mutation: Mutation, expiresAtMs: number): Version | undefined {
    const key = sortKey(mutation.key);
    const newest = this.#index.get(key);
    const current = newest === undefined || newest.isDeleted ? undefined : newest;
    if ((current?.modRevision ?? 0) !== mutation.expected || (mutation.kind === "delete" && current === undefined)) return undefined;
    // History must keep the bytes that the checkpoint is about to lose.
    if (current !== undefined) current.value ??= this.#valueOf(current);
    const modRevision = this.revision + this.#staged.length + 1;
    const value = mutation.kind === "put" ? mutation.value : current!.value!;
    const createRevision = current?.createRevision ?? modRevision;
    const isDeleted = mutation.kind === "delete";
    const version: Version = {
      key: mutation.key,
      value,
      valueBytes: value.length,
      createRevision,
      modRevision,
      isDeleted,
      expiresAtMs,
      previous: newest,
    };
    const event: StoreEvent = { kind: mutation.kind, key: mutation.key, value, revision: modRevision, createRevision };
    this.#index.set(key, version);
    this.#staged.push({ key, version, event });
    return version;
  }

  /** Makes the staged group visible: the newest committed revision moves over it. */
  publish(): void {
    for (const { version, event } of this.#staged) {
      this.window.push(event, version);
      const before = version.previous;
      if (before !== undefined && !before.isDeleted) this.#liveBytes -= versionBytes(before);
      if (!version.isDeleted) this.#liveBytes += versionBytes(version);
    }
    this.#staged = [];
    this.window.trim();
  }

  /** Removes the staged group as if it had never been. */
  takeBack(): void {
    for (const { key, version } of this.#staged.reverse()) {
      invariant(this.#index.get(key) === version, "a staged version is the newest of its key");
      if (version.previous === undefined) this.#index.delete(key);
      else this.#index.set(key, version.previous);
    }
    this.#staged = [];
  }

  /** Forgets history up to `revision`. */
  compact(revision: number): void {
    this.window.forget(Math.min(revision, this.revision));
  }

  /** The checkpoint holds every version up to `revision`. */
  persisted(revision: number): void {
    this.#persistedRevision = revision;
  }

  /** Gives up the bytes of those of `versions`, which the checkpoint holds, that neither readers nor watchers find in history. */
  release(versions: readonly Version[]): void {
    for (const version of versions) if (version.modRevision <= this.window.forgotten) this.#release(sortKey(version.key), version);
  }

  /** The event of `version` left the window. */
  #forget(version: Version): void {
    version.previous = undefined;
    const key = sortKey(version.key);
    if (version.isDeleted && this.#index.get(key) === version) this.#index.delete(key);
    else if (version.modRevision <= this.#persistedRevision) this.#release(key, version);
  }

  #release(key: string, version: Version): void {
    if (this.#index.get(key) === version && !version.isDeleted) version.value = undefined;
  }
}

function versionBytes(version: Version): number {
  return version.key.length + version.valueBytes + 100;
}
