import { CompactedError, type StoreError, type StoreEvents } from "./store.ts";
import type { EventWindow } from "./event-window.ts";

/**
 * The watchers of a sequenced store. A watcher has no queue of its own: it remembers the revision it has seen and reads on from the
 * shared window of events, so that a slow one costs nothing; one that falls out of the window ends with CompactedError.
 * Driven by the store: `publish` after each group of commits, `fail` when the store ends.
 */
export class WatchFeed {
  readonly #window: EventWindow;
  readonly #watchers = new Set<() => void>();
  #failure: StoreError | undefined;

  constructor(window: EventWindow) {
    this.#window = window;
  }

  /** Number of watchers that are reading. */
  get size(): number {
    return this.#watchers.size;
  }

  /** Wakes every watcher. */
  publish(): void {
    for (const wake of this.#watchers) wake();
  }

  /** Ends every watcher, now and later, with `failure`. */
  fail(failure: StoreError): void {
    this.#failure = failure;
    this.publish();
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<StoreEvents> {
    let seen = after;
    let wakeUp = () => {};
    const wake = () => wakeUp();
    signal.addEventListener("abort", wake, { once: true });
    this.#watchers.add(wake);
    try {
      while (!signal.aborted) {
        if (this.#failure !== undefined) throw this.#failure;
        if (seen < this.#window.forgotten) throw new CompactedError(this.#window.forgotten);
        if (seen < this.#window.last) {
          const batch = this.#window.read(prefix, seen, batchLimit);
          seen = batch.revision;
          yield batch;
        } else {
          await new Promise<void>((resolve) => {
            wakeUp = resolve;
          });
        }
      }
    } finally {
      this.#watchers.delete(wake);
      signal.removeEventListener("abort", wake);
    }
  }
}

/** Events of one batch, so that a consumer that catches up does not hold the loop for long. */
const batchLimit = 1_000;
