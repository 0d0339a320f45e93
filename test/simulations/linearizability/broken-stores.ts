/** Stores that break their promises, each in one way that has happened to real ones; now and then, so that most of what they do is right. */
import type { Random } from "../../../src/base/random.ts";
import { loopTurn } from "../../../src/base/virtual-clock.ts";
import type { Mutation, MutationResult, RangeOptions, RangeResult, Store, StoredValue, StoreEvents } from "../../../src/storage/index.ts";

/** By what is wrong with it. */
export const brokenStores: Readonly<Record<string, (store: Store, random: Random) => Store>> = {
  "acknowledges writes that never happen": (store, random) => new LosingStore(store, random),
  "reads from a replica that lags": (store, random) => new LaggingStore(store, random),
  "compares, and swaps a moment later": (store, random) => new RacingStore(store, random),
  "leaves changes out of watches": (store, random) => new ForgetfulStore(store, random),
  "lists keys one by one": (store, random) => new TearingStore(store, random),
  "tries again what had succeeded": (store, random) => new RepeatingStore(store, random),
  "does what it says it refused": (store, random) => new LyingStore(store, random),
};

class WrappedStore implements Store {
  readonly backend = "memory";
  readonly store: Store;
  readonly random: Random;

  constructor(store: Store, random: Random) {
    this.store = store;
    this.random = random;
  }

  /** One time in ten. */
  protected isTime(): boolean {
    return this.random.integer(10) === 0;
  }

  revision(): Promise<number> {
    return this.store.revision();
  }
  get(key: string): Promise<StoredValue | undefined> {
    return this.store.get(key);
  }
  range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    return this.store.range(prefix, options);
  }
  commit(mutation: Mutation): Promise<MutationResult> {
    return this.store.commit(mutation);
  }
  watch(prefix: string, after: number, signal: AbortSignal): AsyncIterable<StoreEvents> {
    return this.store.watch(prefix, after, signal);
  }
  compact(revision: number): Promise<void> {
    return this.store.compact(revision);
  }
  sizeBytes(): Promise<number> {
    return this.store.sizeBytes();
  }
  close(): Promise<void> {
    return this.store.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class LosingStore extends WrappedStore {
  override async commit(mutation: Mutation): Promise<MutationResult> {
    const isCurrent = ((await this.store.get(mutation.key))?.modRevision ?? 0) === mutation.expected;
    if (isCurrent && this.isTime()) return { isCommitted: true, revision: (await this.store.revision()) + 1 };
    return this.store.commit(mutation);
  }
}

class LaggingStore extends WrappedStore {
  override async get(key: string): Promise<StoredValue | undefined> {
    const revision = (await this.store.revision()) - 3;
    if (this.random.integer(3) > 0 || revision < 2) return this.store.get(key);
    return (await this.store.range(key, { revision })).items.find((item) => item.key === key);
  }
}

class RacingStore extends WrappedStore {
  override async commit(mutation: Mutation): Promise<MutationResult> {
    const before = await this.store.get(mutation.key);
    if ((before?.modRevision ?? 0) !== mutation.expected) return { isCommitted: false, current: before, revision: await this.store.revision() };
    await loopTurn();
    const now = await this.store.get(mutation.key);
    return this.store.commit({ ...mutation, expected: now?.modRevision ?? 0 });
  }
}

class ForgetfulStore extends WrappedStore {
  override async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<StoreEvents> {
    for await (const batch of this.store.watch(prefix, after, signal)) yield { ...batch, events: batch.events.filter(() => !this.isTime()) };
  }
}

class TearingStore extends WrappedStore {
  override async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const { items, ...rest } = await this.store.range(prefix, options);
    await loopTurn();
    const again = await Promise.all(items.map(({ key }) => this.store.get(key)));
    return { ...rest, items: again.filter((item) => item !== undefined) };
  }
}

class RepeatingStore extends WrappedStore {
  override async commit(mutation: Mutation): Promise<MutationResult> {
    const result = await this.store.commit(mutation);
    return result.isCommitted && mutation.kind === "put" && this.isTime() ? this.store.commit({ ...mutation, expected: result.revision }) : result;
  }
}

class LyingStore extends WrappedStore {
  override async commit(mutation: Mutation): Promise<MutationResult> {
    const result = await this.store.commit(mutation);
    if (!result.isCommitted && mutation.kind === "put") await this.store.commit({ ...mutation, expected: result.current?.modRevision ?? 0 });
    return result;
  }
}
