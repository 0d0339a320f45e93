import type { Decision } from "../framework/decision.ts";
import type { KeptDecision } from "../server/decision-view.ts";

/** The last decisions, for whoever asks why. */
export class DecisionLog {
  readonly #limit: number;
  readonly #decisions: KeptDecision[] = [];
  #next = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(decision: Decision, atMs: number): void {
    if (this.#limit === 0) return;
    this.#decisions[this.#next] = { decision, atMs };
    this.#next = (this.#next + 1) % this.#limit;
  }

  /** Newest first. */
  latest(): readonly KeptDecision[] {
    const { length } = this.#decisions;
    return Array.from({ length }, (_, index) => this.#decisions[(this.#next - 1 - index + 2 * length) % length]!);
  }

  /** The last decision about a pod. */
  about(namespace: string, name: string): Decision | undefined {
    return this.latest().find(({ decision: { pod } }) => pod.namespace === namespace && pod.name === name)?.decision;
  }
}
