import type { ScalingHistory } from "./limits.ts";

/** What was recommended and done lately, by autoscaler; forgotten after an hour, the longest time that rules may look back. */
export class ScalingMemory {
  readonly #histories = new Map<string, ScalingHistory>();

  /** Remembers a recommendation and returns the history with it. The size found at first counts as recommended too. */
  recommend(key: string, { atMs, size, current }: { atMs: number; size: number; current: number }): ScalingHistory {
    const known = this.#histories.get(key) ?? { recommendations: [{ atMs, size: current }], changes: [] };
    const isRecent = (entry: { atMs: number }) => entry.atMs > atMs - longestMs;
    const history = { recommendations: [...known.recommendations, { atMs, size }].filter(isRecent), changes: known.changes.filter(isRecent) };
    this.#histories.set(key, history);
    return history;
  }

  scaled(key: string, change: { atMs: number; by: number }): void {
    const known = this.#histories.get(key);
    if (known !== undefined) this.#histories.set(key, { ...known, changes: [...known.changes, change] });
  }

  forget(key: string): void {
    this.#histories.delete(key);
  }
}

const longestMs = 3_600_000;
