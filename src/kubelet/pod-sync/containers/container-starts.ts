/** What a pod's worker remembers of tries to start containers: crash back-off, why the last try failed, and when the next may be made. */
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { ContainerStateWaiting, Pod } from "../../../api/core-v1/types.ts";
import type { Clock } from "../../../base/clock.ts";
import type { PodRuntime } from "../pod-runtime.ts";
import { isUntoldStart } from "../untold-start.ts";
import type { WakeTimers } from "../wake-timers.ts";
import { durationText, nextBackoff } from "./crash-backoff.ts";
import type { CrashBackoff } from "./crash-backoff.ts";

export class ContainerStarts {
  readonly #clock: Clock;
  readonly #untoldUntilMs: number;
  readonly #backoffs = new Map<string, CrashBackoff>();
  readonly #waiting = new Map<string, ContainerStateWaiting>();
  readonly #heldUntilMs = new Map<string, number>();
  readonly #heldBack = new Map<string, string>();

  constructor(clock: Clock, startingUntoldMs: number) {
    this.#clock = clock;
    this.#untoldUntilMs = startingUntoldMs > 0 ? clock.nowMs() + startingUntoldMs : 0;
  }

  /** Whether the pod's start need not be told of yet; sets the timer that ends this. */
  isUntold(pod: DeepReadonly<Pod>, runtime: PodRuntime, timers: WakeTimers): boolean {
    const isUntold = this.#clock.nowMs() < this.#untoldUntilMs && isUntoldStart(pod, runtime, (name) => this.#waiting.has(name));
    timers.at("first status", isUntold ? this.#untoldUntilMs : Number.POSITIVE_INFINITY);
    return isUntold;
  }

  backoff(name: string): CrashBackoff | undefined {
    return this.#backoffs.get(name);
  }

  waiting(name: string): ContainerStateWaiting | undefined {
    return this.#waiting.get(name);
  }

  isHeld(name: string, nowMs: number): boolean {
    return (this.#heldUntilMs.get(name) ?? 0) > nowMs;
  }

  heldUntilMs(name: string): number {
    return this.#heldUntilMs.get(name) ?? 0;
  }

  hold(name: string, untilMs: number): void {
    this.#heldUntilMs.set(name, untilMs);
  }

  release(name: string): void {
    this.#heldUntilMs.delete(name);
  }

  fail(name: string, waiting: ContainerStateWaiting, retryAtMs: number): void {
    this.#waiting.set(name, waiting);
    this.#heldUntilMs.set(name, retryAtMs);
  }

  /** The instance `endedId` crashed and must wait; true the first time that is said of it. */
  holdBack(name: string, endedId: string, pod: string): boolean {
    const backoff = this.#backoffs.get(name);
    if (backoff === undefined || this.#heldBack.get(name) === endedId) return false;
    this.#heldBack.set(name, endedId);
    const message = `back-off ${durationText(backoff.delayMs)} restarting failed container=${name} pod=${pod}`;
    this.#waiting.set(name, { reason: "CrashLoopBackOff", message });
    return true;
  }

  /** `endedMs`: when the instance before it ended. */
  started(name: string, endedMs: number | undefined): void {
    this.#waiting.delete(name);
    this.#heldUntilMs.delete(name);
    this.#heldBack.delete(name);
    if (endedMs !== undefined) this.#backoffs.set(name, nextBackoff(this.#backoffs.get(name), endedMs, this.#clock.nowMs()));
  }

  /** What was missing may have come. Crash back-off and pulls keep their times. */
  retryNow(): void {
    for (const [name, { reason }] of this.#waiting) if (reason === "CreateContainerConfigError") this.#heldUntilMs.delete(name);
  }
}
