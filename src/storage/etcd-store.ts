/**
 * A store in an etcd v3 cluster, with Kubernetes' keys and values, so that upstream's API server can share it or hand it over. etcd
 * assigns the revisions; nothing is kept here but leases that several keys share and the streams of open watches. Watchers of quiet
 * prefixes are moved along when someone asks for `revision()`.
 */
import type { Clock } from "../base/clock.ts";
import { systemRandom, type Random } from "../base/random.ts";
import { compact, compareModRevision, deleteEvent, leaseGrant, range, status, txn, watch } from "./etcd/api.ts";
import type { KeyValue, RequestOp, WatchRequest, WatchResponse } from "./etcd/api.ts";
import { etcdError, EtcdConnection, isCompacted, type EtcdTls } from "./etcd/connection.ts";
import { CompactedError, StoreError } from "./store.ts";
import type { Mutation, MutationResult, RangeOptions, RangeResult, Store, StoredValue, StoreEvent, StoreEvents } from "./store.ts";

/** Opens a store in the cluster at `endpoints`, and asks it for its revision to see that it is there. Throws StoreError. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const store = new EtcdStore(await EtcdConnection.open(options.endpoints, options.tls), options);
  try {
    await store.revision();
  } catch (error) {
    await store.close();
    const { message } = error as Error;
    throw new StoreError("Unavailable", `etcd at ${options.endpoints.join(", ")} does not answer: ${message}; check that it runs and its certificates`, error);
  }
  return store;
}

export interface EtcdStoreOptions {
  /** URLs, `http://` or `https://`. */
  readonly endpoints: readonly string[];
  readonly clock: Clock;
  readonly tls?: EtcdTls;
  /** All keys begin so (`/registry/`): others are left alone, so that rights to these are enough. Absent: any key. */
  readonly root?: string;
  readonly random?: Random;
}

class EtcdStore implements Store {
  readonly backend = "etcd";
  readonly isShared = true;
  readonly #connection: EtcdConnection;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #revisionKey: Buffer;
  readonly #leases = new Map<number, Lease>();
  readonly #askForProgress = new Set<() => void>();
  readonly #closed = new AbortController();

  constructor(connection: EtcdConnection, options: EtcdStoreOptions) {
    this.#connection = connection;
    this.#clock = options.clock;
    this.#random = options.random ?? systemRandom();
    // The key that upstream's health check reads. It is never there: reading it gives the revision.
    this.#revisionKey = options.root === undefined ? anyKey : Buffer.from(`${options.root}health`);
  }

  async revision(): Promise<number> {
    this.#check();
    const { header } = await this.#connection.call(range, { key: this.#revisionKey });
    for (const ask of this.#askForProgress) ask();
    return header.revision;
  }

  async get(key: string): Promise<StoredValue | undefined> {
    this.#check();
    const { kvs } = await this.#connection.call(range, { key: Buffer.from(key) });
    return kvs[0] && storedValue(kvs[0]);
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.#check();
    const start = firstKey(prefix);
    const from = Buffer.from(options.from ?? prefix);
    const { limit, revision } = options;
    const key = Buffer.compare(from, start) > 0 ? from : start;
    try {
      const request = { key, range_end: prefixEnd(prefix), ...(limit !== undefined && { limit }), ...(revision !== undefined && { revision }) };
      const { kvs, more, header } = await this.#connection.call(range, request);
      return { items: kvs.map(storedValue), hasMore: more, revision: revision ?? header.revision };
    } catch (error) {
      throw isCompacted(error) ? await this.#compactedError(prefix, revision!) : error;
    }
  }

  async commit(mutation: Mutation): Promise<MutationResult> {
    this.#check();
    const key = Buffer.from(mutation.key);
    const read: RequestOp = { request_range: { key } };
    const write: RequestOp = mutation.kind === "delete" ? { request_delete_range: { key } } : await this.#put(key, mutation);
    const isMissing = mutation.kind === "delete" && mutation.expected === 0;
    const { succeeded, header, responses } = await this.#connection.call(txn, {
      compare: [{ target: compareModRevision, key, mod_revision: mutation.expected }],
      // There is nothing to delete when the key is expected to be absent.
      success: [isMissing ? read : write],
      failure: [read],
    });
    if (succeeded && !isMissing) return { isCommitted: true, revision: header.revision };
    const found = responses[0]?.response_range?.kvs[0];
    return { isCommitted: false, current: found && storedValue(found), revision: header.revision };
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<StoreEvents> {
    this.#check();
    if (signal.aborted) return;
    const stream = this.#connection.stream(watch);
    const cancel = () => stream.cancel();
    const askForProgress = () => void stream.write({ progress_request: {} });
    signal.addEventListener("abort", cancel, { once: true });
    this.#closed.signal.addEventListener("abort", cancel, { once: true });
    try {
      const start = firstKey(prefix);
      const request: WatchRequest = { create_request: { key: start, range_end: prefixEnd(prefix), start_revision: after + 1, prev_kv: true } };
      stream.write(request);
      let seen = after;
      for await (const response of stream as AsyncIterable<WatchResponse>) {
        if (response.canceled) throw watchEnd(response);
        // Progress can be asked for from here on; earlier, etcd would answer for a stream without watches.
        if (response.created) this.#askForProgress.add(askForProgress);
        const batch = eventBatch(response, seen);
        if (batch === undefined) continue;
        seen = batch.revision;
        yield batch;
      }
      throw new StoreError("Unavailable", "etcd ended the watch");
    } catch (error) {
      if (signal.aborted) return;
      this.#check();
      throw etcdError(error);
    } finally {
      this.#askForProgress.delete(askForProgress);
      signal.removeEventListener("abort", cancel);
      this.#closed.signal.removeEventListener("abort", cancel);
      // The cancellation's own error has nobody left to hear it.
      stream.on("error", () => {});
      stream.cancel();
    }
  }

  async compact(revision: number): Promise<void> {
    this.#check();
    try {
      await this.#connection.call(compact, { revision });
    } catch (error) {
      if (!isCompacted(error)) throw error;
    }
  }

  async sizeBytes(): Promise<number> {
    this.#check();
    return (await this.#connection.call(status, {})).dbSize;
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(new StoreError("Closed", "the store is closed"));
    this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #check(): void {
    this.#closed.signal.throwIfAborted();
  }

  async #put(key: Buffer, { value, ttlSeconds = 0 }: Extract<Mutation, { kind: "put" }>): Promise<RequestOp> {
    return { request_put: { key, value, ...(ttlSeconds > 0 && { lease: await this.#lease(ttlSeconds) }) } };
  }

  /**
   * A lease for keys that live `ttlSeconds`. Keys written within 60 s (or 5 % of the lifetime) share one, up to 1,000 of them, as
   * upstream's API server does it; they live as much longer.
   */
  async #lease(ttlSeconds: number): Promise<number> {
    const nowMs = this.#clock.nowMs();
    const shared = this.#leases.get(ttlSeconds);
    if (shared !== undefined && nowMs < shared.untilMs && shared.keys < keysPerLease) {
      shared.keys++;
      return shared.id;
    }
    const sharedSeconds = Math.min(60, Math.floor(ttlSeconds / 20));
    // Ids of our own choosing are exact as numbers; etcd's take 63 bits.
    const id = 1 + this.#random.integer(2 ** 31 - 1) * 2 ** 21 + this.#random.integer(2 ** 21);
    await this.#connection.call(leaseGrant, { TTL: Math.ceil(ttlSeconds) + sharedSeconds, ID: id });
    if (this.#leases.size >= lifetimesRemembered) this.#leases.clear();
    this.#leases.set(ttlSeconds, { id, untilMs: nowMs + sharedSeconds * 1000, keys: 1 });
    return id;
  }

  /** What a watch at the compacted `revision` says: only that names the oldest kept revision. */
  async #compactedError(prefix: string, revision: number): Promise<Error> {
    const abort = new AbortController();
    try {
      for await (const _events of this.watch(prefix, Math.max(0, revision - 1), abort.signal)) break;
    } catch (error) {
      if (error instanceof CompactedError) return error;
    } finally {
      abort.abort();
    }
    return new CompactedError(revision + 1);
  }
}

type Lease = { readonly id: number; readonly untilMs: number; keys: number };

const keysPerLease = 1_000;
const lifetimesRemembered = 100;
/** The lowest key, which is never there. */
const anyKey = Buffer.from([0]);

function storedValue(pair: KeyValue): StoredValue {
  return { key: Buffer.from(pair.key).toString("utf8"), value: pair.value, createRevision: pair.create_revision, modRevision: pair.mod_revision };
}

/** The first key behind all that begin with `prefix` (etcd's `range_end`; a single zero byte: no end). */
function prefixEnd(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  // UTF-8 has no byte 0xff that could not be counted up.
  if (end.length === 0) return anyKey;
  end[end.length - 1]!++;
  return end;
}

/** Where the keys under `prefix` begin; etcd knows no empty key. */
function firstKey(prefix: string): Buffer {
  return prefix === "" ? anyKey : Buffer.from(prefix);
}

/** A response as events, or as progress; undefined when it tells nothing new. */
function eventBatch(response: WatchResponse, seen: number): StoreEvents | undefined {
  const events = response.events.map((event): StoreEvent => {
    const isDelete = event.type === deleteEvent;
    const before = event.prev_kv;
    return {
      kind: isDelete ? "delete" : "put",
      key: Buffer.from(event.kv.key).toString("utf8"),
      value: isDelete ? (before?.value ?? new Uint8Array(0)) : event.kv.value,
      revision: event.kv.mod_revision,
      createRevision: isDelete ? (before?.create_revision ?? 0) : event.kv.create_revision,
    };
  });
  // The header's revision may be ahead of events that are still to come; of a response without any it is how far etcd has looked.
  const revision = events.at(-1)?.revision ?? (response.created ? seen : response.header.revision);
  return events.length > 0 || revision > seen ? { events, revision } : undefined;
}

function watchEnd(response: WatchResponse): Error {
  if (response.compact_revision > 0) return new CompactedError(response.compact_revision);
  return new StoreError("Unavailable", response.cancel_reason || "etcd ended the watch");
}
