/**
 * Requests being answered, reads and writes apart: the gauge that Kubernetes declares (most at once within a second), and, where priority and
 * fairness is off, the limit on each (`--max-requests-inflight`, `--max-mutating-requests-inflight`; 0 is none).
 */
import type { Clock } from "../../base/clock.ts";
import type { Gauge, MetricRegistry } from "../../base/metrics.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { RetryAfter } from "./retry-after.ts";
import { TimedRatio } from "./timed-ratio.ts";

export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
}

export type RequestKind = keyof InFlightLimits;

const reading = new Set(["get", "list", "watch", "head", "options"]);

export function kindOf({ verb }: RequestInfo): RequestKind {
  return reading.has(verb) ? "readOnly" : "mutating";
}

export class InFlight {
  readonly #clock: Clock;
  readonly #limits: InFlightLimits;
  readonly #gauges: { readonly executing: Gauge; readonly waiting: Gauge };
  readonly #executing: Counts;
  readonly #waiting: Counts;
  readonly #retryAfter = { readOnly: new RetryAfter(), mutating: new RetryAfter() };

  /** `isLimiting`: requests beyond the limits are refused here, not by priority and fairness. */
  constructor(
    limits: InFlightLimits,
    { clock, metrics, isLimiting }: { readonly clock: Clock; readonly metrics: MetricRegistry; readonly isLimiting: boolean },
  ) {
    this.#clock = clock;
    this.#limits = limits;
    const samples = metrics.histogram(
      "apiserver_flowcontrol_read_vs_write_current_requests",
      "Requests that wait or execute, as a fraction of their limit where they have one, each nanosecond.",
      readVersusWriteBuckets,
      ["phase", "request_kind"],
    );
    const nowMs = clock.monotonicMs();
    const counts = (phase: string, of: InFlightLimits): Counts => ({
      readOnly: new Count(new TimedRatio(samples.series(phase, "readOnly"), of.readOnly, nowMs)),
      mutating: new Count(new TimedRatio(samples.series(phase, "mutating"), of.mutating, nowMs)),
    });
    this.#executing = counts("executing", isLimiting ? limits : unlimited);
    this.#waiting = counts("waiting", unlimited);
    this.#gauges = {
      executing: metrics.gauge("apiserver_current_inflight_requests", "Most requests that were answered at once within the last second.", ["request_kind"]),
      waiting: metrics.gauge("apiserver_current_inqueue_requests", "Most requests that waited at once within the last second.", ["request_kind"]),
    };
  }

  begin(kind: RequestKind): void {
    this.#executing[kind].add(1, this.#clock.monotonicMs());
  }

  end(kind: RequestKind): void {
    this.#executing[kind].add(-1, this.#clock.monotonicMs());
  }

  beginWaiting(kind: RequestKind): void {
    this.#waiting[kind].add(1, this.#clock.monotonicMs());
  }

  endWaiting(kind: RequestKind): void {
    this.#waiting[kind].add(-1, this.#clock.monotonicMs());
  }

  /** Without fairness: seconds to come back after when the limit is reached, else undefined. Administrators always get through. */
  refuse(kind: RequestKind, user: UserInfo): number | undefined {
    const limit = this.#limits[kind];
    if (limit === 0 || this.#executing[kind].count < limit || user.groups.includes("system:masters")) return undefined;
    return this.#retryAfter[kind].refuse(this.#clock.monotonicMs());
  }

  /** Brings the gauges up to date. */
  readMetrics(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const kind of ["mutating", "readOnly"] as const) {
      this.#gauges.executing.set(this.#executing[kind].of(nowMs), kind);
      this.#gauges.waiting.set(this.#waiting[kind].of(nowMs), kind);
      for (const counts of [this.#executing, this.#waiting]) counts[kind].samples.bringUpTo(nowMs);
    }
  }
}

type Counts = Readonly<Record<RequestKind, Count>>;

const unlimited: InFlightLimits = { readOnly: 1, mutating: 1 };
const readVersusWriteBuckets = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];

/** A number, its peak in the last second that is over, and its samples over time. */
class Count {
  count = 0;
  readonly samples: TimedRatio;
  #second = 0;
  #peak = 0;
  #before = 0;

  constructor(samples: TimedRatio) {
    this.samples = samples;
  }

  add(change: number, nowMs: number): void {
    this.#turn(nowMs);
    this.count += change;
    this.samples.set(this.count, nowMs);
    if (this.count > this.#peak) this.#peak = this.count;
  }

  of(nowMs: number): number {
    this.#turn(nowMs);
    return this.#before;
  }

  #turn(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    this.#before = second === this.#second + 1 ? this.#peak : this.count;
    this.#second = second;
    this.#peak = this.count;
  }
}
