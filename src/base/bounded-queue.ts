/**
 * A queue with a bound: `offer` refuses the newest item when it is full, and says so. One consumer iterates.
 * Invariant: a waiting consumer and a queued item never exist at the same time.
 */
export class BoundedQueue<T> {
  readonly #limit: number;
  readonly #items: T[] = [];
  #head = 0;
  #wake: (() => void) | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Adds `item`; false when the queue is full and the item was dropped. */
  offer(item: T): boolean {
    if (this.size >= this.#limit) return false;
    this.#items.push(item);
    this.#wake?.();
    return true;
  }

  /** The oldest item, or undefined when there is none. */
  poll(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head]!;
    this.#items[this.#head++] = undefined as T;
    // Compacting only when half is dead keeps both ends O(1).
    if (this.#head > 32 && this.#head * 2 >= this.#items.length) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Items as they come, until `signal` aborts; what is queued then stays queued. */
  async *drain(signal: AbortSignal): AsyncGenerator<T, void> {
    const onAbort = () => this.#wake?.();
    signal.addEventListener("abort", onAbort);
    try {
      while (!signal.aborted) {
        if (this.size > 0) yield this.poll()!;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = undefined;
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
