/** Answers kept for a while under the digest of their question; the oldest of too many go first. */
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";

const limit = 8192;

export class AnswerCache<T> {
  readonly #clock: Clock;
  readonly #answers = new Map<string, { readonly answer: T; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(question: string): T | undefined {
    const found = this.#answers.get(digest(question));
    return found !== undefined && found.untilMs > this.#clock.monotonicMs() ? found.answer : undefined;
  }

  set(question: string, answer: T, ttlMs: number): void {
    if (ttlMs <= 0) return;
    const key = digest(question);
    this.#answers.delete(key);
    if (this.#answers.size >= limit) this.#answers.delete(this.#answers.keys().next().value!);
    this.#answers.set(key, { answer, untilMs: this.#clock.monotonicMs() + ttlMs });
  }
}

/** Tokens are not kept as they are. */
const digest = (text: string) => createHash("sha256").update(text).digest("base64");
