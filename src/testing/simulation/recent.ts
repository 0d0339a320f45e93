/** Values that a controller may still act on: what was wanted lately, as its caches can be late. */
import type { Clock } from "../../base/clock.ts";

export class Recent {
  readonly #clock: Clock;
  readonly #values: { readonly atMs: number; readonly value: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a value that holds from now on, and answers it. */
  set(value: number): number {
    this.#values.push({ atMs: this.#clock.nowMs(), value });
    return value;
  }

  get latest(): number {
    return this.#values.at(-1)?.value ?? 0;
  }

  /** The values that held at any time lately. */
  get values(): readonly number[] {
    const sinceMs = this.#clock.nowMs() - staleMs;
    return this.#values.filter((_, index) => (this.#values[index + 1]?.atMs ?? Number.POSITIVE_INFINITY) >= sinceMs).map(({ value }) => value);
  }
}

/** So late may a cache be: the line's worst lag with the reflector's pauses. */
const staleMs = 40_000;
