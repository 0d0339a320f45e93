/** Answers that hold for a while, by key; at most `limit`, the oldest go first. Who asks for one on its way awaits it. */
import type { Clock } from "../../base/clock.ts";

export class AnswerCache<T> {
  readonly #options: { readonly clock: Clock; readonly limit: number; keptMs(answer: T | undefined): number };
  readonly #answers = new Map<string, { readonly answer: Promise<T | undefined>; untilMs: number }>();

  constructor(options: { readonly clock: Clock; readonly limit: number; keptMs(answer: T | undefined): number }) {
    this.#options = options;
  }

  /** The answer kept, or that of `ask`. A failure is not kept. */
  get(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const { clock, limit, keptMs } = this.#options;
    const known = this.#answers.get(key);
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.answer;
    const entry = { answer: ask(), untilMs: Number.POSITIVE_INFINITY };
    this.#answers.delete(key);
    this.#answers.set(key, entry);
    if (this.#answers.size > limit) this.#answers.delete(this.#answers.keys().next().value!);
    entry.answer.then(
      (answer) => (entry.untilMs = clock.monotonicMs() + keptMs(answer)),
      () => this.#answers.delete(key),
    );
    return entry.answer;
  }
}
