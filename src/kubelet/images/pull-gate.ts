/**
 * How many pulls may go on at once, and how many may begin in a second (KubeletConfiguration `serializeImagePulls`, `maxParallelImagePulls`,
 * `registryPullQPS`, `registryBurst`). Who has to wait goes in order of coming.
 */
import type { Clock } from "../../base/clock.ts";
import type { KubeletSettings } from "../configuration/settings.ts";

export type PullLimits = Pick<KubeletSettings, "serializeImagePulls" | "maxParallelImagePulls" | "registryPullQPS" | "registryBurst">;

export class PullGate {
  readonly #clock: Clock;
  readonly #limits: PullLimits;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #tokens: number;
  #filledMs: number;

  constructor(clock: Clock, limits: PullLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#most = limits.serializeImagePulls ? 1 : (limits.maxParallelImagePulls ?? Number.POSITIVE_INFINITY);
    this.#tokens = limits.registryBurst;
    this.#filledMs = clock.monotonicMs();
  }

  /** Runs `pull` when its turn has come; rejects with `pull QPS exceeded` when too many began just now. */
  async run<T>(pull: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#takeToken();
    await this.#turn(signal);
    try {
      return await pull();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  #takeToken(): void {
    const { registryPullQPS: perSecond, registryBurst } = this.#limits;
    if (perSecond === 0) return;
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(registryBurst, this.#tokens + ((nowMs - this.#filledMs) * perSecond) / 1000);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) throw new Error("pull QPS exceeded");
    this.#tokens -= 1;
  }

  /** Resolves when a place is taken; one who no longer wants to wait leaves the line. */
  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#most) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener("abort", leave);
        this.#running += 1;
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      this.#waiting.push(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
