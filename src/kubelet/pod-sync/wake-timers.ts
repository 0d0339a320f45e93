/** The moments at which a pod must be looked at again, one for each reason. */
import type { Clock } from "../../base/clock.ts";

export class WakeTimers {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #timers = new Map<string, () => void>();

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Wakes at `dueMs`, in place of what was set for the same reason; infinity sets nothing. */
  at(reason: string, dueMs: number): void {
    this.#timers.get(reason)?.();
    if (!Number.isFinite(dueMs)) return;
    const cancel = this.#clock.after(Math.max(0, dueMs - this.#clock.nowMs()), () => {
      this.#timers.delete(reason);
      this.#wake();
    });
    this.#timers.set(reason, cancel);
  }

  cancel(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
