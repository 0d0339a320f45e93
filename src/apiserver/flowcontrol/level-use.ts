/** How much of what it has a priority level uses, over time: what its histograms tell. */
import { TimedRatio } from "./timed-ratio.ts";
import type { RatioSamples } from "./timed-ratio.ts";

/** One histogram each. */
export interface LevelSamples {
  readonly demand: RatioSamples;
  readonly seats: RatioSamples;
  readonly executing: RatioSamples;
  readonly waiting: RatioSamples;
}

export interface LevelLimits {
  readonly nominalSeats: number;
  /** Requests that may wait, in all queues. */
  readonly waiting: number;
}

interface Load {
  readonly seatsInUse: number;
  readonly seatsWaiting: number;
  readonly executing: number;
  readonly waiting: number;
}

export class LevelUse {
  readonly #demand: TimedRatio;
  readonly #seats: TimedRatio;
  readonly #executing: TimedRatio;
  readonly #waiting: TimedRatio;

  constructor(samples: LevelSamples, nowMs: number) {
    this.#demand = new TimedRatio(samples.demand, 1, nowMs);
    this.#seats = new TimedRatio(samples.seats, 1, nowMs);
    this.#executing = new TimedRatio(samples.executing, 1, nowMs);
    this.#waiting = new TimedRatio(samples.waiting, 1, nowMs);
  }

  setLimits({ nominalSeats, waiting }: LevelLimits, nowMs: number): void {
    this.#demand.setLimit(nominalSeats, nowMs);
    this.#seats.setLimit(nominalSeats, nowMs);
    this.#executing.setLimit(nominalSeats, nowMs);
    this.#waiting.setLimit(waiting, nowMs);
  }

  note({ seatsInUse, seatsWaiting, executing, waiting }: Load, nowMs: number): void {
    this.#demand.set(seatsInUse + seatsWaiting, nowMs);
    this.#seats.set(seatsInUse, nowMs);
    this.#executing.set(executing, nowMs);
    this.#waiting.set(waiting, nowMs);
  }

  bringUpTo(nowMs: number): void {
    for (const ratio of [this.#demand, this.#seats, this.#executing, this.#waiting]) ratio.bringUpTo(nowMs);
  }
}
