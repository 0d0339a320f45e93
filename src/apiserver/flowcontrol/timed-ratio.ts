/**
 * A number as part of its limit, over time, in a histogram: each nanosecond counts as one observation of what the ratio was then. Whoever
 * changes the number tells the time; `bringUpTo` counts what has passed since, before the histogram is read.
 */
export interface RatioSamples {
  observe(ratio: number, times: number): void;
}

const nanosecondsPerMs = 1_000_000;

export class TimedRatio {
  readonly #samples: RatioSamples;
  #value = 0;
  #limit: number;
  #sinceMs: number;

  constructor(samples: RatioSamples, limit: number, nowMs: number) {
    this.#samples = samples;
    this.#limit = atLeastOne(limit);
    this.#sinceMs = nowMs;
  }

  set(value: number, nowMs: number): void {
    if (value === this.#value) return;
    this.bringUpTo(nowMs);
    this.#value = value;
  }

  setLimit(limit: number, nowMs: number): void {
    this.bringUpTo(nowMs);
    this.#limit = atLeastOne(limit);
  }

  bringUpTo(nowMs: number): void {
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs <= 0) return;
    this.#samples.observe(this.#value / this.#limit, Math.round(passedMs * nanosecondsPerMs));
    this.#sinceMs = nowMs;
  }
}

/** Of nothing there is no part. */
function atLeastOne(limit: number): number {
  return Math.max(1, limit);
}
