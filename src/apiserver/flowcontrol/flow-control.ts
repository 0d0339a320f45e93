/**
 * Priority and fairness (KEP-1040): every request belongs to a flow of a priority level; it executes when its level has seats for it,
 * waits in one of the level's queues until its turn comes, or is refused. Decisions are made in `queues/` and `levels.ts`; this drives
 * them by the clock. While nothing waits there is no timer.
 */
import type { Clock } from "../../base/clock.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { RequestContext } from "../request-context.ts";
import type { Flow } from "./flow.ts";
import { FlowMetrics } from "./flow-metrics.ts";
import { Levels } from "./levels.ts";
import type { PriorityLevel, Refusal } from "./priority-level.ts";
import { SeatRequest } from "./queues/seat-request.ts";
import type { WatchCounts } from "./watch-counts.ts";
import { estimateWork } from "./work-estimate.ts";
import type { WorkEstimate } from "./queues/seat-request.ts";

export interface FlowControlOptions {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly schemas: ResourceCache;
  readonly levels: ResourceCache;
  readonly serverSeats: number;
  readonly watches: WatchCounts;
}

export class FlowControl {
  readonly #clock: Clock;
  readonly #metrics: FlowMetrics;
  readonly #levels: Levels;
  readonly #watches: WatchCounts;
  #cancelTimer: (() => void) | undefined;

  constructor(options: FlowControlOptions) {
    this.#clock = options.clock;
    this.#watches = options.watches;
    this.#metrics = new FlowMetrics(options.metrics);
    this.#levels = new Levels(
      { schemas: options.schemas, levels: options.levels, metrics: this.#metrics, serverSeats: options.serverSeats },
      options.clock.monotonicMs(),
    );
  }

  /** Priority levels in order of their names, for dumps. */
  levels(): readonly PriorityLevel[] {
    this.#update(this.#clock.monotonicMs());
    return this.#levels.all();
  }

  /** Brings the gauges up to date. */
  readMetrics(): void {
    const nowMs = this.#clock.monotonicMs();
    const levels = this.levels();
    for (const level of levels) level.readUse(nowMs);
    this.#metrics.readLevels(levels, this.#levels.fairFraction);
  }

  /** Lets a request in, makes it wait or refuses it. What was let in must be ended with `finish`. */
  arrive(context: RequestContext): Visit {
    const nowMs = this.#clock.monotonicMs();
    this.#update(nowMs);
    const { user, info } = context;
    const flow = this.#levels.flowOf(user, info);
    const { level, series } = flow;
    this.#start(level.release(nowMs));
    const distinguisher = flow.distinguisherOf(user, info);
    const work = level.isExempt ? exemptWork : this.#estimate(context, flow);
    const request = new SeatRequest({ schema: flow.name, distinguisher }, work, { arrivedMs: nowMs, details: { user, info } });
    const arrival = level.arrive(request, nowMs, () => flow.handOf(distinguisher));
    const visit = new Visit(this, flow, request);
    switch (arrival) {
      case "executing":
        visit.began(nowMs);
        break;
      case "waiting":
        series.waiting.value += 1;
        series.waitingSeats.value += request.seats;
        series.queueLength.observe(request.queue!.waiting.length);
        request.onStart = () => visit.called();
        request.onUnaccommodated = () => (series.unaccommodated.value += 1);
        this.#start(level.dispatch(nowMs));
        if (visit.isWaiting) this.#arm(nowMs);
        break;
      default:
        this.#refuse(visit, arrival, nowMs);
    }
    return visit;
  }

  /** Of a visit that waits: it waits no longer. */
  giveUp(visit: Visit, reason: "time-out" | "cancelled"): void {
    const nowMs = this.#clock.monotonicMs();
    const { level } = visit.flow;
    visit.left();
    this.#refuse(visit, reason, nowMs);
    this.#start(level.giveUp(visit.request, nowMs));
  }

  /** Of a visit that executes: it is done. */
  finish(visit: Visit): void {
    const nowMs = this.#clock.monotonicMs();
    const { level, series } = visit.flow;
    const isWatch = visit.request.details.info.verb === "watch";
    (isWatch ? series.watchBeginning : series.execution).observe((nowMs - visit.request.startedMs) / 1000);
    this.#start(level.release(nowMs));
    this.#start(level.finish(visit.request, nowMs));
    if (level.queueSet.waiting > 0) this.#arm(nowMs);
  }

  get clock(): Clock {
    return this.#clock;
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #estimate({ server, info, query }: RequestContext, { level, series }: Flow): WorkEstimate {
    const watches = () => {
      const count = this.#watches.interestedIn(info);
      series.watches.observe(count);
      return count;
    };
    const objects = () => server.resources.find(info.group, info.version, info.resource)?.storage?.cache.state.size ?? 0;
    const { verb, resource, subresource, name } = info;
    const work = info.isResourceRequest ? estimateWork({ verb, resource, subresource, name, query, objects, watches }, level.limits.nominal) : exemptWork;
    series.estimatedSeats.observe(Math.max(work.initialSeats, work.finalSeats));
    return work;
  }

  #refuse(visit: Visit, reason: Refusal, nowMs: number): void {
    const { level, series } = visit.flow;
    visit.refusal = { reason, retryAfterSeconds: level.retryAfter.refuse(nowMs) };
    series.refused(reason);
    series.waitInVain.observe((nowMs - visit.request.arrivedMs) / 1000);
    if (reason === "time-out") level.counts.timedOut += 1;
    else if (reason === "cancelled") level.counts.cancelled += 1;
    else level.counts.refused += 1;
  }

  #update(nowMs: number): void {
    this.#start(this.#levels.update(nowMs));
  }

  #start(requests: readonly SeatRequest[]): void {
    for (const request of requests) request.onStart?.();
  }

  /** While something waits, looks again when seats come free by themselves. */
  #arm(nowMs: number): void {
    this.#cancelTimer?.();
    const busy = this.#levels.all().filter(({ queueSet }) => queueSet.waiting > 0);
    if (busy.length === 0) return;
    const dueMs = Math.min(this.#levels.nextAdjustMs, ...busy.map((level) => level.nextReleaseMs ?? Number.POSITIVE_INFINITY));
    this.#cancelTimer = this.#clock.after(Math.max(0, dueMs - nowMs), () => {
      this.#cancelTimer = undefined;
      const laterMs = this.#clock.monotonicMs();
      this.#update(laterMs);
      for (const level of this.#levels.all()) this.#start(level.release(laterMs));
      this.#arm(laterMs);
    });
  }
}

const exemptWork: WorkEstimate = { initialSeats: 1, finalSeats: 0, afterMs: 0 };

/** One request's way through flow control. */
export class Visit {
  readonly flow: Flow;
  readonly request: SeatRequest;
  refusal: { readonly reason: Refusal; readonly retryAfterSeconds: number } | undefined;
  readonly #control: FlowControl;
  #resolve: (() => void) | undefined;
  #isFinished = false;

  constructor(control: FlowControl, flow: Flow, request: SeatRequest) {
    this.#control = control;
    this.flow = flow;
    this.request = request;
  }

  get isWaiting(): boolean {
    return this.request.state === "waiting";
  }

  /** Resolves when its turn has come, or when it has waited for `limitMs` or `signal` has aborted: then `refusal` says so. */
  async turn(limitMs: number, signal: AbortSignal): Promise<void> {
    const giveUp = (reason: "time-out" | "cancelled") => {
      if (this.isWaiting) this.#control.giveUp(this, reason);
      this.#resolve?.();
    };
    if (signal.aborted) return giveUp("cancelled");
    const onAbort = () => giveUp("cancelled");
    signal.addEventListener("abort", onAbort, { once: true });
    const cancel = this.#control.clock.after(limitMs, () => giveUp("time-out"));
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    cancel();
    signal.removeEventListener("abort", onAbort);
  }

  /** Gives its seats back; only the first call does. */
  finish(): void {
    if (this.#isFinished || this.refusal !== undefined) return;
    this.#isFinished = true;
    const { series } = this.flow;
    series.executing.value -= 1;
    series.seats.value -= this.request.seats;
    this.#control.finish(this);
  }

  began(nowMs: number): void {
    const { series } = this.flow;
    series.dispatched.value += 1;
    series.executing.value += 1;
    series.seats.value += this.request.seats;
    series.waitBeforeExecution.observe((nowMs - this.request.arrivedMs) / 1000);
  }

  /** Its turn has come. */
  called(): void {
    this.left();
    this.began(this.request.startedMs);
    this.#resolve?.();
  }

  /** It is in no queue any more. */
  left(): void {
    const { series } = this.flow;
    series.waiting.value -= 1;
    series.waitingSeats.value -= this.request.seats;
  }
}
