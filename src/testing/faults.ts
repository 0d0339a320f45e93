/** Faults from a seed: how often each strikes, and how often it has. */
import type { Random } from "../base/random.ts";

export class Faults<Kind extends string> {
  readonly #random: Random;
  readonly #rates: Partial<Record<Kind, number>>;
  readonly #counts = new Map<Kind, number>();

  /** `rates` are fractions of the calls. A fault that is not asked for takes nothing from the random sequence. */
  constructor(random: Random, rates: Partial<Record<Kind, number>>) {
    this.#random = random;
    this.#rates = rates;
  }

  /** Whether this fault happens now. */
  strikes(kind: Kind): boolean {
    const rate = this.#rates[kind] ?? 0;
    if (rate === 0 || this.#random.fraction() >= rate) return false;
    this.#counts.set(kind, this.count(kind) + 1);
    return true;
  }

  count(kind: Kind): number {
    return this.#counts.get(kind) ?? 0;
  }
}
