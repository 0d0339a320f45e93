import { ObjectCache, cached } from "./object-cache.ts";
import { Reflector } from "./reflector.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { Heap } from "../../base/heap.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { IndexFunction, Lister } from "./object-cache.ts";
import type { CacheUpdate, ReflectorOptions } from "./reflector.ts";
import type { ResourceType } from "../resource-type.ts";

/**
 * A local, always current copy of one resource, and who wants to hear of its changes. Driven by `run`; shared by all users in a process.
 * Invariants: handlers see changes in the server's order, each after the cache has it and before `resourceVersion` says so;
 * `resourceVersion` only moves back when the server's own history did, and then everyone who waits for a version is let go.
 */
export class Informer<T extends KubeObject> implements Lister<T> {
  readonly resource: ResourceType<T>;
  readonly #options: ReflectorOptions<T>;
  readonly #cache = new ObjectCache<T>();
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #waiters = new Heap<Waiter>((a, b) => compareResourceVersions(a.resourceVersion, b.resourceVersion));
  #resourceVersion: string | undefined;
  #listedVersion: string | undefined;
  #syncedWaiters: (() => void)[] = [];

  constructor(options: ReflectorOptions<T>) {
    this.resource = options.resource;
    this.#options = options;
  }

  /** Whether the cache has held the full state at least once. */
  get hasSynced(): boolean {
    return this.#resourceVersion !== undefined;
  }

  /** The newest version that the cache is known to reflect; undefined before it has synced. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  get size(): number {
    return this.#cache.size;
  }

  get(namespace: string, name: string): DeepReadonly<T> | undefined {
    return this.#cache.get(namespace, name);
  }

  list(namespace = ""): readonly DeepReadonly<T>[] {
    return this.#cache.list(namespace);
  }

  byIndex(index: string, key: string): readonly DeepReadonly<T>[] {
    return this.#cache.byIndex(index, key);
  }

  addIndex(name: string, keys: IndexFunction<T>): void {
    this.#cache.addIndex(name, keys);
  }

  /** Calls `handler` for what the cache holds now (unless `isReplayed` is false) and for every later change, until the returned function is called. */
  subscribe(handler: InformerHandler<T>, options: { isReplayed?: boolean } = {}): () => void {
    this.#handlers.add(handler);
    if (options.isReplayed !== false) for (const object of this.#cache.list()) handler({ kind: "add", object });
    return () => this.#handlers.delete(handler);
  }

  /** Resolves once the cache holds the full state. */
  synced(signal?: AbortSignal): Promise<void> {
    return waiting(signal, (done) => {
      if (this.hasSynced) done();
      else this.#syncedWaiters.push(done);
    });
  }

  /** Whether a write that the server answered with this version is reflected here. */
  hasSeen(resourceVersion: string): boolean {
    return this.#resourceVersion !== undefined && compareResourceVersions(this.#resourceVersion, resourceVersion) >= 0;
  }

  /** Whether a list has shown a state as new as this version: then what was written at it may be undone already, without any handler having heard of it. */
  hasListed(resourceVersion: string): boolean {
    return this.#listedVersion !== undefined && compareResourceVersions(this.#listedVersion, resourceVersion) >= 0;
  }

  /** Resolves once the cache reflects `resourceVersion`, or the server has lost the history it belongs to. */
  waitFor(resourceVersion: string, signal?: AbortSignal): Promise<void> {
    return waiting(signal, (done) => this.onceSeen(resourceVersion, done));
  }

  /** `waitFor` as a callback, called at once when the version has been seen; the returned function takes it back. */
  onceSeen(resourceVersion: string, callback: () => void): () => void {
    if (this.hasSeen(resourceVersion)) {
      callback();
      return () => undefined;
    }
    const waiter: Waiter = { resourceVersion, callback };
    this.#waiters.push(waiter);
    return () => {
      waiter.callback = undefined;
    };
  }

  /** Follows the server until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for await (const updates of new Reflector(this.#options).follow(signal)) for (const update of updates) this.#take(update);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #take(update: CacheUpdate<T>): void {
    switch (update.kind) {
      case "replace":
        this.#replace(update.objects);
        break;
      case "put":
        this.#put(update.object);
        break;
      case "remove":
        this.#remove(update.object);
        break;
      case "bookmark":
        break;
    }
    this.#advance(update.resourceVersion, update.kind === "replace");
  }

  #replace(objects: readonly T[]): void {
    const gone = new Set(this.#cache.list());
    for (const object of objects) {
      const old = this.#cache.get(object.metadata.namespace ?? "", object.metadata.name ?? "");
      if (old !== undefined) gone.delete(old);
      if (old?.metadata.uid !== undefined && old.metadata.uid !== object.metadata.uid) this.#remove(old);
      if (old === undefined || old.metadata.resourceVersion !== object.metadata.resourceVersion || old.metadata.uid !== object.metadata.uid) this.#put(object);
    }
    for (const object of gone) this.#remove(object);
  }

  #put(raw: T): void {
    const object = cached(raw);
    const old = this.#cache.put(object);
    const change: Change<T> = old === undefined ? { kind: "add", object } : { kind: "update", object, old };
    for (const handler of this.#handlers) handler(change);
  }

  /** The object of a removal may carry a newer state than the cache had. */
  #remove(last: T | DeepReadonly<T>): void {
    const { namespace = "", name = "" } = last.metadata;
    if (this.#cache.remove(namespace, name) === undefined) return;
    const object = Object.isFrozen(last) ? (last as DeepReadonly<T>) : cached(last as T);
    for (const handler of this.#handlers) handler({ kind: "delete", object });
  }

  #advance(resourceVersion: string, isReplaced: boolean): void {
    if (isReplaced) this.#listedVersion = resourceVersion;
    const hasGoneBack = isReplaced && compareResourceVersions(resourceVersion, this.#resourceVersion) < 0;
    if (hasGoneBack || compareResourceVersions(resourceVersion, this.#resourceVersion) > 0 || this.#resourceVersion === undefined)
      this.#resourceVersion = resourceVersion;
    for (let next = this.#waiters.peek(); next !== undefined && (hasGoneBack || this.hasSeen(next.resourceVersion)); next = this.#waiters.peek()) {
      this.#waiters.pop();
      next.callback?.();
    }
    if (this.#syncedWaiters.length === 0) return;
    const synced = this.#syncedWaiters;
    this.#syncedWaiters = [];
    for (const done of synced) done();
  }
}

/** Called synchronously, after the cache changed; must not throw. */
export type InformerHandler<T extends KubeObject> = (change: Change<T>) => void;

/** What happened to an object, as a cache saw it; `old` is what the cache had before. */
export type Change<T extends KubeObject> =
  | { readonly kind: "add" | "delete"; readonly object: DeepReadonly<T>; readonly old?: undefined }
  | { readonly kind: "update"; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> };

type Waiter = { readonly resourceVersion: string; callback: (() => void) | undefined };

function waiting(signal: AbortSignal | undefined, register: (done: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    register(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
