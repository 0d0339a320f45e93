/**
 * Feeds every resource's cache from one watch of the store. Started once; `waitFor` tells when a revision has been applied, so that a
 * write is answered only after its own caches show it.
 *
 * Invariant: `revision` only grows, and every cache has applied all events up to it.
 */
import { backoffMs } from "../../base/backoff.ts";
import { Heap } from "../../base/heap.ts";
import { isAbort } from "../../base/task-group.ts";
import type { Log } from "../../base/log.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { CompactedError, StoreError } from "../../storage/store.ts";
import type { Store, StoreEvent, StoredValue } from "../../storage/store.ts";
import { ParsedPool, StoredObject } from "./stored-object.ts";
import { ResourceCache } from "./resource-cache.ts";

export interface CacherOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Root of all keys, with a final slash. */
  readonly root: string;
  /** Parsed objects kept over all resources. */
  readonly parsedLimit: number;
  /** Events kept per resource. */
  readonly windowLimit: number;
  /** Turns a stored value into our JSON form (values that another server wrote may be protobuf). */
  normalize(key: string, value: Uint8Array): Buffer;
}

/** Time before a store that is away is asked again: at first it may be one member of several, and the next one answers. */
const retry = { baseMs: 20, maxMs: 1000 };

export class Cacher {
  readonly #options: CacherOptions;
  readonly #pool: ParsedPool;
  readonly #caches = new Map<string, ResourceCache>();
  #revision = 0;
  /** The question that the store is being asked, and the one that comes next. */
  #answer: Promise<number> | undefined;
  #nextAnswer: Promise<number> | undefined;
  readonly #waiters = new Heap<{ revision: number; resolve: () => void; reject: (reason: unknown) => void }>((a, b) => a.revision - b.revision);
  /** Set when the store is followed no longer: nobody would ever be woken. */
  #end: { readonly reason: unknown } | undefined;

  constructor(options: CacherOptions) {
    this.#options = options;
    this.#pool = new ParsedPool(options.parsedLimit);
  }

  /** The newest revision that all caches have applied. */
  get revision(): number {
    return this.#revision;
  }

  /** The cache of a key prefix (with final slash); made on first use. Before `start` it is filled by it, later by `load`. */
  cache(prefix: string): ResourceCache {
    let cache = this.#caches.get(prefix);
    if (cache === undefined) {
      cache = new ResourceCache(prefix, { pool: this.#pool, windowLimit: this.#options.windowLimit });
      this.#caches.set(prefix, cache);
    }
    return cache;
  }

  /** Reads everything under the root, then follows the store until `signal` aborts. Resolves when the first read is done. */
  async start(signal: AbortSignal, run: (task: (signal: AbortSignal) => Promise<void>) => void): Promise<void> {
    await this.#loadAll();
    run(async (taskSignal) => {
      const either = AbortSignal.any([signal, taskSignal]);
      await this.#follow(either).finally(() => this.#letGo(either.reason ?? new Error("the store is followed no longer")));
    });
  }

  /** Fills a cache made after `start` (a new custom resource) from the store. */
  async load(cache: ResourceCache): Promise<void> {
    const range = await this.#options.store.range(cache.prefix);
    if (range.revision > this.#revision) await this.waitFor(range.revision);
    cache.load(
      range.items.map((item) => this.#object(cache, item)),
      range.revision,
    );
  }

  /** Whether there are values that could not be opened. */
  hasUnreadable(): boolean {
    return this.#caches.values().some((cache) => cache.unreadableKeys.size > 0);
  }

  /** Removes the cache of a prefix. */
  drop(prefix: string): void {
    this.#caches.delete(prefix);
  }

  /** Resolves once every event up to `revision` has been applied. Rejects with the reason of the abort when the store is followed no longer. */
  waitFor(revision: number): Promise<void> {
    if (revision <= this.#revision) return Promise.resolve();
    if (this.#end !== undefined) return Promise.reject(this.#end.reason);
    return new Promise((resolve, reject) => this.#waiters.push({ revision, resolve, reject }));
  }

  /**
   * Resolves once the caches show all that anybody was told before the call. Where only this server writes they always do: a write is answered
   * after they show it. Callers of one moment share one question to the store. Rejects as `Store.revision`.
   */
  async catchUp(): Promise<void> {
    if (this.#options.store.isShared !== true) return;
    await this.waitFor(await (this.#nextAnswer ??= this.#askAfter(this.#answer)));
  }

  /** Asks for the newest revision when the question before is answered; who comes later than that needs another answer. */
  async #askAfter(before: Promise<number> | undefined): Promise<number> {
    await before?.catch(() => undefined);
    this.#answer = this.#nextAnswer;
    this.#nextAnswer = undefined;
    return this.#options.store.revision();
  }

  async #loadAll(): Promise<void> {
    const { store, root } = this.#options;
    const range = await store.range(root);
    const byCache = new Map<ResourceCache, StoredObject[]>([...this.#caches.values()].map((cache) => [cache, []]));
    for (const item of range.items) {
      const cache = this.#cacheOf(item.key);
      if (cache !== undefined) byCache.get(cache)!.push(this.#object(cache, item));
    }
    for (const [cache, objects] of byCache) cache.load(objects, range.revision);
    this.#advance(range.revision);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const before = this.#revision;
      try {
        await this.#followOnce(signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        if (!(error instanceof StoreError) || error.reason !== "Unavailable") throw error;
        this.#options.log.warn("Lost the store, going on when it is back", { error });
        failures = this.#revision > before ? 1 : failures + 1;
        await sleep(this.#options.clock, backoffMs(retry, failures), signal).catch(() => {});
      }
    }
  }

  /** Follows the store until the watch ends; what it has forgotten is read anew. */
  async #followOnce(signal: AbortSignal): Promise<void> {
    const { store, root, log } = this.#options;
    try {
      for await (const batch of store.watch(root, this.#revision, signal)) {
        for (const event of batch.events) this.#apply(event);
        this.#advance(batch.revision);
      }
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      log.warn("Lost the store's history, reading everything again", { compacted: error.compactRevision });
      await this.#loadAll();
    }
  }

  #apply(event: StoreEvent): void {
    const cache = this.#cacheOf(event.key);
    if (cache === undefined) return;
    const bytes = event.kind === "put" ? this.#options.normalize(event.key, event.value) : undefined;
    cache.apply(event.key.slice(cache.prefix.length), bytes, event.revision, event.createRevision);
  }

  #advance(revision: number): void {
    if (revision > this.#revision) this.#revision = revision;
    for (let next = this.#waiters.peek(); next !== undefined && next.revision <= this.#revision; next = this.#waiters.peek()) {
      this.#waiters.pop();
      next.resolve();
    }
  }

  #letGo(reason: unknown): void {
    this.#end = { reason };
    for (let next = this.#waiters.pop(); next !== undefined; next = this.#waiters.pop()) next.reject(reason);
  }

  #object(cache: ResourceCache, item: StoredValue): StoredObject {
    return new StoredObject(item.key.slice(cache.prefix.length), this.#options.normalize(item.key, item.value), item.modRevision, item.createRevision);
  }

  /** The cache with the longest prefix of `key`. Prefixes have two to four segments (`/registry/services/specs/`). */
  #cacheOf(key: string): ResourceCache | undefined {
    let end = key.lastIndexOf("/");
    while (end > 0) {
      const cache = this.#caches.get(key.slice(0, end + 1));
      if (cache !== undefined) return cache;
      end = key.lastIndexOf("/", end - 1);
    }
    return undefined;
  }
}
