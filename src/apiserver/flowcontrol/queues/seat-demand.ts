/**
 * How many seats a priority level wanted over an adjustment period: the mean and deviation weighted by time, and the peak. `current` is
 * set at each change; `take` closes a period and begins the next.
 */
export class SeatDemand {
  #current = 0;
  #sinceMs: number;
  #startMs: number;
  #sum = 0;
  #sumOfSquares = 0;
  #peak = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.#startMs = nowMs;
  }

  get current(): number {
    return this.#current;
  }

  set(seats: number, nowMs: number): void {
    this.#accrue(nowMs);
    this.#current = seats;
    if (seats > this.#peak) this.#peak = seats;
  }

  /** The period until `nowMs`. */
  take(nowMs: number): DemandOfPeriod {
    this.#accrue(nowMs);
    const lengthMs = nowMs - this.#startMs;
    const average = lengthMs > 0 ? this.#sum / lengthMs : this.#current;
    const variance = lengthMs > 0 ? Math.max(0, this.#sumOfSquares / lengthMs - average * average) : 0;
    const period = { average, deviation: Math.sqrt(variance), peak: this.#peak };
    this.#startMs = nowMs;
    this.#sum = 0;
    this.#sumOfSquares = 0;
    this.#peak = this.#current;
    return period;
  }

  #accrue(nowMs: number): void {
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs <= 0) return;
    this.#sum += this.#current * passedMs;
    this.#sumOfSquares += this.#current * this.#current * passedMs;
    this.#sinceMs = nowMs;
  }
}

/** In seats. */
export interface DemandOfPeriod {
  readonly average: number;
  readonly deviation: number;
  readonly peak: number;
}
