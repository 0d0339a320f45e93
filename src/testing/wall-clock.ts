/**
 * The machine's time, with what a cluster's clock must have beside: it knows which timers are set, so that one that is left behind is
 * found, and it can be waited for. Nothing moves it; what moves a virtual clock waits here.
 */
import { sleep, systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { loopTurn } from "../base/virtual-clock.ts";

/** A clock whose time a test can let pass: `VirtualClock` moves, `WallClock` waits. */
export interface PassingClock extends Clock {
  /** When the next timer is due, in ms since 1970; undefined when none is set. */
  nextDueMs(): number | undefined;
  /** Resolves once something may have happened; with false when that was not before `limitMs`. */
  next(limitMs: number): boolean | Promise<boolean>;
  /** Lets `durationMs` pass; `turn` lets everything run that can. */
  advance(durationMs: number, turn?: () => Promise<void>): Promise<void>;
}

/** What does not come from a timer is seen so late at most. */
const lookAgainMs = 10;

export class WallClock implements PassingClock {
  readonly #clock = systemClock();
  /** Keeps the process alive while a test waits, and only then. */
  readonly #waiting = systemClock({ keepAlive: true });
  readonly #timers = new Set<{ readonly dueMs: number }>();

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.nowMs() + delayMs };
    this.#timers.add(timer);
    const cancel = this.#clock.after(delayMs, () => {
      this.#timers.delete(timer);
      callback();
    });
    return () => {
      this.#timers.delete(timer);
      cancel();
    };
  }

  nextDueMs(): number | undefined {
    let nextMs: number | undefined;
    for (const { dueMs } of this.#timers) nextMs = Math.min(nextMs ?? dueMs, dueMs);
    return nextMs;
  }

  async next(limitMs: number): Promise<boolean> {
    const leftMs = limitMs - this.nowMs();
    if (leftMs <= 0) return false;
    await sleep(this.#waiting, Math.min(lookAgainMs, leftMs));
    return true;
  }

  async advance(durationMs: number, turn: () => Promise<void> = loopTurn): Promise<void> {
    await sleep(this.#waiting, durationMs);
    await turn();
  }
}
