/**
 * Keeps long loops from holding the event loop: a loop asks after each piece of work whether its slice is over, and waits for a turn when it is.
 * On a virtual clock no time passes within a turn, so that simulated runs never wait.
 */
import { sleep } from "./clock.ts";
import type { Clock } from "./clock.ts";

export class Pacer {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  #startMs: number;

  constructor(clock: Clock, sliceMs = 8) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
    this.#startMs = clock.monotonicMs();
  }

  /** Whether others should have their turn now. */
  isDue(): boolean {
    return this.#clock.monotonicMs() - this.#startMs >= this.#sliceMs;
  }

  /** Lets everything run that is ready, then begins a new slice. */
  async turn(): Promise<void> {
    await sleep(this.#clock, 0);
    this.#startMs = this.#clock.monotonicMs();
  }
}

/** Work that is cut into steps by `yield`, with turns for others between its slices. */
export async function inSlices<T>(clock: Clock, work: Generator<void, T>): Promise<T> {
  const pacer = new Pacer(clock);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (pacer.isDue()) await pacer.turn();
  }
}

/** The same work in one go. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
