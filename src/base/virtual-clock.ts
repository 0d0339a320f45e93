/**
 * A clock that moves only when told to. Timers fire in order of their time, then of their creation.
 * `advance` runs every timer that falls due, letting promise jobs and loop turns finish between them, so that work started by one
 * timer sees the time of that timer. State: `current` only grows; `timers` is a heap ordered by (dueMs, sequence).
 */
import type { Clock } from "./clock.ts";
import { Heap } from "./heap.ts";

type Timer = { dueMs: number; sequence: number; callback: (() => void) | undefined };

export class VirtualClock implements Clock {
  #currentMs: number;
  readonly #startMs: number;
  #sequence = 0;
  readonly #timers = new Heap<Timer>((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence);

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#currentMs = startMs;
    this.#startMs = startMs;
  }

  /** Whole, as a machine's is, though timers may stand between two milliseconds. */
  nowMs(): number {
    return Math.floor(this.#currentMs);
  }

  monotonicMs(): number {
    return this.#currentMs - this.#startMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { dueMs: this.#currentMs + Math.max(0, delayMs), sequence: this.#sequence++, callback };
    this.#timers.push(timer);
    return () => {
      timer.callback = undefined;
    };
  }

  /** The time of the next live timer, or undefined when none is set. */
  nextDueMs(): number | undefined {
    while (this.#timers.peek() !== undefined && this.#timers.peek()!.callback === undefined) this.#timers.pop();
    return this.#timers.peek()?.dueMs;
  }

  /** Moves to the next live timer if it is due by `limitMs` and fires it. Returns false when there is none. */
  fireNext(limitMs = Number.POSITIVE_INFINITY): boolean {
    const dueMs = this.nextDueMs();
    if (dueMs === undefined || dueMs > limitMs) return false;
    const timer = this.#timers.pop()!;
    this.#currentMs = Math.max(this.#currentMs, timer.dueMs);
    const callback = timer.callback!;
    timer.callback = undefined;
    callback();
    return true;
  }

  /** As `fireNext`, of a clock that tests let pass. */
  next(limitMs: number): boolean {
    return this.fireNext(limitMs);
  }

  /** Advances by `durationMs`, firing what falls due; between two timers the event loop turns until it is quiet (`turn`). */
  async advance(durationMs: number, turn: () => Promise<void> = loopTurn): Promise<void> {
    const endMs = this.#currentMs + durationMs;
    await turn();
    while (this.fireNext(endMs)) await turn();
    this.#currentMs = Math.max(this.#currentMs, endMs);
    await turn();
  }
}

/** One full turn of the event loop: every promise job and every callback queued so far has run. */
export function loopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
