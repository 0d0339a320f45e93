/**
 * A store whose values are transformed on their way in and out; all else is the inner store's. What cannot be opened is handed on as a
 * value that says so (unreadable-value.ts): one bad value does not hold up the others.
 */
import { isPromise } from "node:util/types";
import { unreadableValue } from "../cache/unreadable-value.ts";
import type { Mutation, MutationResult, RangeOptions, RangeResult, Store, StoredValue, StoreEvent, StoreEvents } from "../../storage/store.ts";
import { StoreError } from "../../storage/store.ts";
import { KmsError } from "./kms.ts";
import type { EncryptionRules } from "./rules.ts";
import { TransformError } from "./transformer.ts";
import type { Opened } from "./transformer.ts";

export class EncryptedStore implements Store {
  readonly #inner: Store;
  /** Replaced as a whole when the configuration is read again. */
  rules: EncryptionRules;
  readonly #root: string;

  constructor(inner: Store, rules: EncryptionRules, storageRoot: string) {
    this.#inner = inner;
    this.rules = rules;
    this.#root = storageRoot;
  }

  get backend(): string {
    return this.#inner.backend;
  }

  get isShared(): boolean {
    return this.#inner.isShared === true;
  }

  get atRest(): Store {
    return this.#inner;
  }

  revision(): Promise<number> {
    return this.#inner.revision();
  }

  async get(key: string): Promise<StoredValue | undefined> {
    const found = await this.#inner.get(key);
    return found && this.#opened(found);
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const range = await this.#inner.range(prefix, options);
    return { ...range, items: await Promise.all(range.items.map((item) => this.#opened(item))) };
  }

  async commit(mutation: Mutation): Promise<MutationResult> {
    const result = await this.#inner.commit(mutation.kind === "put" ? { ...mutation, value: await this.#sealed(mutation.key, mutation.value) } : mutation);
    if (result.isCommitted || result.current === undefined) return result;
    return { ...result, current: await this.#opened(result.current) };
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncIterable<StoreEvents> {
    for await (const batch of this.#inner.watch(prefix, after, signal)) {
      yield { ...batch, events: await Promise.all(batch.events.map((event) => this.#opened(event))) };
    }
  }

  /** Whether what is stored under `key` would be written otherwise today. */
  async isStale(key: string): Promise<boolean> {
    const found = await this.#inner.get(key);
    if (found === undefined) return false;
    const transformer = this.rules.transformerFor(key);
    return transformer !== undefined && (await transformer.open(found.value, key)).isStale;
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision);
  }

  sizeBytes(): Promise<number> {
    return this.#inner.sizeBytes();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#inner.close();
  }

  async #sealed(key: string, value: Uint8Array): Promise<Uint8Array> {
    const transformer = this.rules.transformerFor(key);
    return transformer === undefined ? value : transformer.seal(value, key);
  }

  /** At once where no plugin has to be asked. */
  #opened<T extends StoredValue | StoreEvent>(item: T): T | Promise<T> {
    const transformer = this.rules.transformerFor(item.key);
    if (transformer === undefined) return item;
    const failed = (error: unknown) => this.#unopened(item, error);
    const done = ({ plain }: Opened) => ({ ...item, value: plain });
    try {
      const opened = transformer.open(item.value, item.key);
      return isPromise(opened) ? opened.then(done, failed) : done(opened);
    } catch (error) {
      return failed(error);
    }
  }

  #unopened<T extends StoredValue | StoreEvent>(item: T, error: unknown): T {
    if (error instanceof KmsError) throw new StoreError("Unavailable", `a value needs a key management plugin that does not answer: ${error.message}`, error);
    if (!(error instanceof TransformError)) throw error;
    return {
      ...item,
      value: unreadableValue(`/${item.key.slice(this.#root.length)}`, `data from the storage is not transformable revision=0: ${error.message}`),
    };
  }
}
