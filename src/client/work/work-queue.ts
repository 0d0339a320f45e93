import { backoffMs } from "../../base/backoff.ts";
import type { BackoffPolicy } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";

/**
 * Keys that want work, each once. Driven by whoever adds keys and by `run`, which hands them to workers in the order they came.
 * A key is in at most one of these states, and moves thus:
 * - waiting: a timer adds it later (`addAfter`, `retry`); of several times the earliest counts
 * - ready: in line for a worker
 * - active: a worker has it
 * - active and dirty: it was added meanwhile, and becomes ready as soon as the worker is done; so no addition is ever lost
 * (a waiting key may also be ready or active: the timer stands until it fires).
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #backoff: BackoffPolicy;
  readonly #metrics: WorkQueueMetrics | undefined;
  readonly #ready = new Map<string, number>();
  readonly #active = new Map<string, { isDirty: boolean }>();
  readonly #waiting = new Map<string, { dueMs: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #idle: (() => void)[] = [];
  #isClosed = false;

  constructor(options: { clock: Clock; backoff?: BackoffPolicy; metrics?: WorkQueueMetrics }) {
    this.#clock = options.clock;
    this.#backoff = options.backoff ?? controllerBackoff;
    this.#metrics = options.metrics;
  }

  /** Keys in line for a worker. */
  get length(): number {
    return this.#ready.size;
  }

  /** Whether no key is in line, with a worker, or waiting for a time. */
  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#active.size === 0 && this.#waiting.size === 0;
  }

  add(key: string): void {
    if (this.#isClosed) return;
    const active = this.#active.get(key);
    if (active !== undefined) {
      if (!active.isDirty) this.#metrics?.onAdd(this.#ready.size);
      active.isDirty = true;
      return;
    }
    this.#enqueue(key);
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#isClosed) return;
    if (delayMs <= 0) return this.add(key);
    const dueMs = this.#clock.monotonicMs() + delayMs;
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) {
      if (waiting.dueMs <= dueMs) return;
      waiting.cancel();
    }
    const cancel = this.#clock.after(delayMs, () => {
      this.#waiting.delete(key);
      this.add(key);
    });
    this.#waiting.set(key, { dueMs, cancel });
  }

  /** Adds a key that failed, after 5 ms, 10 ms, 20 ms … 1,000 s. Returns the pause in milliseconds. */
  retry(key: string): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const delayMs = backoffMs(this.#backoff, failures);
    this.#metrics?.onRetry();
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** Ends a key's growing pauses: call it when the key went well. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How many times in a row the key has failed. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * Hands keys to `worker`, at most `workers` at a time, until `signal` aborts and every worker has returned. A worker that throws has
   * its key retried, one that returns has it forgotten; `onError` hears of the former.
   */
  async run(worker: Worker, options: WorkOptions): Promise<void> {
    const onAbort = () => this.close();
    if (options.signal.aborted) onAbort();
    else options.signal.addEventListener("abort", onAbort, { once: true });
    await Promise.all(Array.from({ length: options.workers }, () => this.#work(worker, options)));
    options.signal.removeEventListener("abort", onAbort);
  }

  /** Refuses further keys, drops what waits, and lets workers go. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.values()) waiting.cancel();
    this.#waiting.clear();
    this.#ready.clear();
    for (const wake of this.#idle.splice(0)) wake();
  }

  async #work(worker: Worker, options: WorkOptions): Promise<void> {
    while (!this.#isClosed) {
      const key = this.#take();
      if (key === undefined) {
        await new Promise<void>((resolve) => this.#idle.push(resolve));
        continue;
      }
      const startedMs = this.#clock.monotonicMs();
      try {
        if ((await worker(key, options.signal)) !== "deferred") this.forget(key);
      } catch (error) {
        if (options.signal.aborted) continue;
        const retryMs = this.retry(key);
        options.onError?.(key, error, retryMs);
      } finally {
        this.#metrics?.onDone(this.#clock.monotonicMs() - startedMs);
        this.#release(key);
      }
    }
  }

  #enqueue(key: string): void {
    if (this.#ready.has(key)) return;
    this.#ready.set(key, this.#clock.monotonicMs());
    this.#metrics?.onAdd(this.#ready.size);
    this.#idle.shift()?.();
  }

  #take(): string | undefined {
    for (const [key, addedMs] of this.#ready) {
      this.#ready.delete(key);
      this.#active.set(key, { isDirty: false });
      this.#metrics?.onTake(this.#clock.monotonicMs() - addedMs, this.#ready.size);
      return key;
    }
    return undefined;
  }

  #release(key: string): void {
    const { isDirty } = this.#active.get(key)!;
    this.#active.delete(key);
    if (isDirty && !this.#isClosed) {
      this.#ready.set(key, this.#clock.monotonicMs());
      this.#idle.shift()?.();
    }
  }
}

/** `deferred`: the key was not worked on (its count of failures stays); somebody else adds it again. */
export type Worker = (key: string, signal: AbortSignal) => Promise<void | "deferred">;
/** How a queue is worked on: `workers` keys at the same time, until `signal` aborts. */
export interface WorkOptions {
  readonly workers: number;
  readonly signal: AbortSignal;
  /** `retryMs`: the pause before the key comes again. */
  readonly onError?: (key: string, error: unknown, retryMs: number) => void;
}

/** Durations in milliseconds; `depth` is the number of keys in line. */
export interface WorkQueueMetrics {
  onAdd(depth: number): void;
  onTake(waitedMs: number, depth: number): void;
  onDone(workedMs: number): void;
  onRetry(): void;
}

/** What Kubernetes' controllers use. */
export const controllerBackoff: BackoffPolicy = { baseMs: 5, maxMs: 1_000_000 };
