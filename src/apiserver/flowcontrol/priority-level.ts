/** One priority level at work: its queues, its limits, its demand and what became of its requests. Driven by FlowControl, which tells the time. */
import type { PriorityLevelConfigurationSpec } from "../../api/flowcontrol-v1/types.ts";
import { Heap } from "../../base/heap.ts";
import type { LevelSamples } from "./level-use.ts";
import { LevelUse } from "./level-use.ts";
import { QueueSet } from "./queues/queue-set.ts";
import type { Arrival, QueueSetConfig } from "./queues/queue-set.ts";
import { SeatDemand } from "./queues/seat-demand.ts";
import type { DemandOfPeriod } from "./queues/seat-demand.ts";
import type { SeatLimits } from "./queues/seat-limits.ts";
import type { SeatRequest } from "./queues/seat-request.ts";
import { RetryAfter } from "./retry-after.ts";

export type Refusal = "queue-full" | "concurrency-limit" | "time-out" | "cancelled";

export class PriorityLevel {
  readonly name: string;
  readonly isExempt: boolean;
  readonly queueSet: QueueSet;
  readonly demand: SeatDemand;
  readonly retryAfter = new RetryAfter();
  readonly counts = { dispatched: 0, refused: 0, timedOut: 0, cancelled: 0 };
  /** Its object is gone; it ends when its last request does. */
  isQuiescing = false;
  #limits: SeatLimits = { nominal: 0, lower: 0, upper: 0 };
  readonly #use: LevelUse;
  handSize = 0;
  smoothed = 0;
  target = 0;
  lastPeriod: DemandOfPeriod = { average: 0, deviation: 0, peak: 0 };
  /** Finished requests that still hold seats, the next to give them back first. */
  readonly #keeping = new Heap<{ readonly dueMs: number; readonly request: SeatRequest }>((a, b) => a.dueMs - b.dueMs);

  constructor(name: string, spec: PriorityLevelConfigurationSpec, { samples, nowMs }: { readonly samples: LevelSamples; readonly nowMs: number }) {
    this.name = name;
    this.#use = new LevelUse(samples, nowMs);
    this.isExempt = spec.type === "Exempt";
    this.queueSet = new QueueSet(queueConfig(spec), this.isExempt ? Number.POSITIVE_INFINITY : 0, nowMs);
    this.demand = new SeatDemand(nowMs);
    this.handSize = spec.limited?.limitResponse?.queuing?.handSize ?? 0;
  }

  get limits(): SeatLimits {
    return this.#limits;
  }

  /** When the next seats that are kept come free. */
  get nextReleaseMs(): number | undefined {
    return this.#keeping.peek()?.dueMs;
  }

  get isIdle(): boolean {
    return this.queueSet.isIdle;
  }

  configure(spec: PriorityLevelConfigurationSpec, limits: SeatLimits, nowMs: number): readonly SeatRequest[] {
    const config = queueConfig(spec);
    this.#limits = limits;
    this.#use.setLimits({ nominalSeats: limits.nominal, waiting: config.queues * config.queueLengthLimit }, nowMs);
    this.handSize = spec.limited?.limitResponse?.queuing?.handSize ?? 0;
    return this.#noted(this.queueSet.configure(config, nowMs), nowMs);
  }

  /** Brings the histograms up to date. */
  readUse(nowMs: number): void {
    this.#use.bringUpTo(nowMs);
  }

  setLimit(seats: number, nowMs: number): readonly SeatRequest[] {
    return this.isExempt ? [] : this.#noted(this.queueSet.setLimit(seats, nowMs), nowMs);
  }

  arrive(request: SeatRequest, nowMs: number, hand: () => Uint32Array): Arrival {
    const arrival = this.queueSet.arrive(request, nowMs, hand);
    if (arrival === "executing") this.counts.dispatched += 1;
    this.#noteDemand(nowMs);
    return arrival;
  }

  /** Starts what may start, after an arrival that waits. */
  dispatch(nowMs: number): readonly SeatRequest[] {
    return this.#noted(this.queueSet.dispatch(nowMs), nowMs);
  }

  giveUp(request: SeatRequest, nowMs: number): readonly SeatRequest[] {
    return this.#noted(this.queueSet.giveUp(request, nowMs), nowMs);
  }

  finish(request: SeatRequest, nowMs: number): readonly SeatRequest[] {
    const started = this.queueSet.finish(request, nowMs);
    if (request.work.afterMs > 0) this.#keeping.push({ dueMs: nowMs + request.work.afterMs, request });
    return this.#noted(started, nowMs);
  }

  /** Gives back the seats that are due. */
  release(nowMs: number): readonly SeatRequest[] {
    let started: readonly SeatRequest[] = [];
    for (let next = this.#keeping.peek(); next !== undefined && next.dueMs <= nowMs; next = this.#keeping.peek()) {
      this.#keeping.pop();
      started = [...started, ...this.#noted(this.queueSet.release(next.request, next.dueMs), next.dueMs)];
    }
    return started;
  }

  #noted(started: readonly SeatRequest[], nowMs: number): readonly SeatRequest[] {
    this.counts.dispatched += started.length;
    this.#noteDemand(nowMs);
    return started;
  }

  #noteDemand(nowMs: number): void {
    const { seatsInUse, seatsWaiting } = this.queueSet;
    this.demand.set(seatsInUse + seatsWaiting, nowMs);
    this.#use.note(this.queueSet, nowMs);
  }
}

function queueConfig({ limited }: PriorityLevelConfigurationSpec): QueueSetConfig {
  const queuing = limited?.limitResponse?.type === "Queue" ? limited.limitResponse.queuing : undefined;
  return { queues: queuing?.queues ?? 0, queueLengthLimit: queuing?.queueLengthLimit ?? 0 };
}
