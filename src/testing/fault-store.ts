/**
 * A store with faults, from a seed: wraps any Store and makes its commits fail before or after they happened, come late, or be the last
 * ones before a crash, and makes history disappear early. Driven by the test: `crash` and `recover` are also called by hand. Invariant:
 * what the wrapped store says is never changed, only lost or late, so that whatever conforms to Store has to live with it.
 */
import { sleep, type Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { Faults } from "./faults.ts";
import {
  StoreError,
  type Mutation,
  type MutationResult,
  type RangeOptions,
  type RangeResult,
  type Store,
  type StoredValue,
  type StoreEvents,
} from "../storage/index.ts";

export class FaultStore implements Store {
  readonly backend: string;
  readonly isShared: boolean;
  readonly #store: Store;
  readonly #options: FaultStoreOptions;
  readonly #faults: Faults<keyof FaultRates>;
  #crashes = 0;
  #crash = new AbortController();
  #commits = 0;

  constructor(store: Store, options: FaultStoreOptions) {
    this.backend = store.backend;
    this.isShared = store.isShared === true;
    this.#store = store;
    this.#options = options;
    this.#faults = new Faults(options.random, options.rates ?? {});
  }

  /** How many faults of each kind there were. */
  get counts(): Readonly<Record<FaultKind, number>> {
    const count = (kind: keyof FaultRates) => this.#faults.count(kind);
    return { failBefore: count("failBefore"), failAfter: count("failAfter"), delay: count("delay"), compact: count("compact"), crash: this.#crashes };
  }

  get isCrashed(): boolean {
    return this.#crash.signal.aborted;
  }

  /** From now on every call fails, and every watch ends with an error, as when the process that holds the store is killed. */
  crash(): void {
    if (this.isCrashed) return;
    this.#crashes++;
    this.#crash.abort(new StoreError("Unavailable", "the store crashed (injected)"));
  }

  /** Ends a crash: what had been committed is there. */
  recover(): void {
    if (this.isCrashed) this.#crash = new AbortController();
  }

  async revision(): Promise<number> {
    return this.#unlessCrashed(this.#store.revision());
  }

  async get(key: string): Promise<StoredValue | undefined> {
    return this.#unlessCrashed(this.#store.get(key));
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    return this.#unlessCrashed(this.#store.range(prefix, options));
  }

  async commit(mutation: Mutation): Promise<MutationResult> {
    const { signal } = this.#crash;
    signal.throwIfAborted();
    if (this.#faults.strikes("failBefore")) throw new StoreError("Unavailable", "the commit failed before it happened (injected)");
    if (this.#faults.strikes("delay")) await sleep(this.#options.clock, 1 + this.#options.random.integer(this.#options.maxDelayMs ?? 1_000), signal);
    const failsAfter = this.#faults.strikes("failAfter");
    const compacts = this.#faults.strikes("compact");
    const result = await this.#store.commit(mutation);
    signal.throwIfAborted();
    if (compacts) await this.#store.compact(result.revision);
    if (result.isCommitted && ++this.#commits === this.#options.crashAfterCommits) this.crash();
    signal.throwIfAborted();
    if (failsAfter) throw new StoreError("Unavailable", "the commit failed after it may have happened (injected)");
    return result;
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<StoreEvents> {
    const crash = this.#crash.signal;
    crash.throwIfAborted();
    for await (const batch of this.#store.watch(prefix, after, AbortSignal.any([signal, crash]))) {
      crash.throwIfAborted();
      yield batch;
    }
    if (!signal.aborted) crash.throwIfAborted();
  }

  async compact(revision: number): Promise<void> {
    return this.#unlessCrashed(this.#store.compact(revision));
  }

  async sizeBytes(): Promise<number> {
    return this.#unlessCrashed(this.#store.sizeBytes());
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #unlessCrashed<T>(result: Promise<T>): Promise<T> {
    const { signal } = this.#crash;
    const value = await result;
    signal.throwIfAborted();
    return value;
  }
}

/** How often, as a fraction of commits. */
export interface FaultRates {
  /** The commit fails and nothing was written. */
  readonly failBefore?: number;
  /** The commit happens, but its writer is told that it failed. */
  readonly failAfter?: number;
  /** The commit happens up to `maxDelayMs` later than it was asked for. */
  readonly delay?: number;
  /** History up to the commit is compacted. */
  readonly compact?: number;
}

export interface FaultStoreOptions {
  readonly random: Random;
  readonly clock: Clock;
  readonly rates?: FaultRates;
  readonly maxDelayMs?: number;
  /** The store crashes when this many commits have happened; the last one's writer gets no answer but the crash. */
  readonly crashAfterCommits?: number;
}

export type FaultKind = keyof FaultRates | "crash";
