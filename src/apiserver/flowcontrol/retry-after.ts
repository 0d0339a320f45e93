/**
 * Seconds after which refused clients of a priority level shall come back: twice as many when refusals come thick, one less when they have
 * become rare. Looked at once in as many seconds as it says.
 */
const longest = 32;

export class RetryAfter {
  #seconds = 1;
  #changedAt: number | undefined;
  /** Refusals by second, the newest last; no more seconds than are looked at. */
  #refused: { readonly second: number; count: number }[] = [];

  /** Notes a refusal; returns what it is told. */
  refuse(nowMs: number): number {
    const now = Math.floor(nowMs / 1000);
    this.#changedAt ??= now;
    if (now - this.#changedAt >= this.#seconds) this.#reconsider(now);
    const newest = this.#refused.at(-1);
    if (newest?.second === now) newest.count += 1;
    else this.#refused.push({ second: now, count: 1 });
    return this.#seconds;
  }

  #reconsider(now: number): void {
    // The second that is not over yet does not count.
    const recent = this.#refused.filter(({ second }) => second >= now - this.#seconds && second < now).reduce((sum, { count }) => sum + count, 0);
    if (recent >= 3 * this.#seconds) this.#seconds = Math.min(longest, this.#seconds * 2);
    else if (recent < this.#seconds) this.#seconds = Math.max(1, this.#seconds - 1);
    this.#changedAt = now;
    this.#refused = this.#refused.filter(({ second }) => second > now - longest);
  }
}
