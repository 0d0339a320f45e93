/** Keeps the entries used last. */
export class BoundedCache<Key, Entry> {
  readonly #capacity: number;
  readonly #entries = new Map<Key, Entry>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: Key): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  set(key: Key, entry: Entry): void {
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#capacity) return;
    const { value: oldest, done } = this.#entries.keys().next();
    if (done !== true) this.#entries.delete(oldest);
  }
}
