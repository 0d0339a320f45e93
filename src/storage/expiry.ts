/**
 * Which keys expire and when. Holds at most one entry per key: one that was written again with a later time is moved when its old time
 * comes. Driven by the store: `track` after each commit of a key with a lifetime; it calls `expire` with keys whose time may have come,
 * and the store decides by the state it then finds.
 */
import type { Clock } from "../base/clock.ts";
import { Heap } from "../base/heap.ts";

export class Expiry {
  readonly #clock: Clock;
  readonly #expire: (key: string) => void;
  readonly #heap = new Heap<{ key: string; dueMs: number }>((a, b) => a.dueMs - b.dueMs);
  readonly #dueMs = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, expire: (key: string) => void) {
    this.#clock = clock;
    this.#expire = expire;
  }

  /** `expire(key)` is called at `dueMs` (wall clock) or, when it is tracked for an earlier time already, then. */
  track(key: string, dueMs: number): void {
    const tracked = this.#dueMs.get(key);
    if (tracked !== undefined && tracked <= dueMs) return;
    this.#dueMs.set(key, dueMs);
    this.#heap.push({ key, dueMs });
    this.#arm();
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerMs = Number.NEGATIVE_INFINITY;
  }

  #arm(): void {
    const next = this.#heap.peek();
    if (next === undefined || next.dueMs >= this.#timerMs) return;
    this.#cancelTimer?.();
    this.#timerMs = next.dueMs;
    this.#cancelTimer = this.#clock.after(Math.max(0, next.dueMs - this.#clock.nowMs()), () => this.#fire());
  }

  #fire(): void {
    this.#timerMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.nowMs();
    for (let count = 0; count < firedAtOnce; count++) {
      const top = this.#heap.peek();
      if (top === undefined || top.dueMs > nowMs) break;
      this.#heap.pop();
      if (this.#dueMs.get(top.key) !== top.dueMs) continue;
      this.#dueMs.delete(top.key);
      this.#expire(top.key);
    }
    this.#arm();
  }
}

/** Keys expired in one turn: a store that was closed over many lifetimes does not hold the loop when it opens again. */
const firedAtOnce = 500;
