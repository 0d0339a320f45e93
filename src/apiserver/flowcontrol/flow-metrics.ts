/** Metrics of priority and fairness, under the names that Kubernetes declares (reference page "Kubernetes Metrics"). */
import type { Counter, Gauge, Histogram, MetricRegistry } from "../../base/metrics.ts";
import type { LevelSamples } from "./level-use.ts";
import type { PriorityLevel, Refusal } from "./priority-level.ts";
import type { QueueSet } from "./queues/queue-set.ts";

const waitBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const lengthBuckets = [0, 10, 25, 50, 100, 250, 500, 1000];
const executionBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const seatBuckets = [1, 2, 4, 10];
const watchBuckets = [0, 1, 10, 100, 1000, 10_000];
const demandBuckets = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];
const seatUseBuckets = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const requestUseBuckets = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];

/** What one flow schema does at one level. */
export interface FlowSeries {
  readonly executing: { value: number };
  readonly seats: { value: number };
  readonly waiting: { value: number };
  readonly waitingSeats: { value: number };
  readonly dispatched: { value: number };
  readonly waitBeforeExecution: { observe(seconds: number): void };
  readonly waitInVain: { observe(seconds: number): void };
  readonly execution: { observe(seconds: number): void };
  readonly watchBeginning: { observe(seconds: number): void };
  /** Times that its turn had come and too few seats were free. */
  readonly unaccommodated: { value: number };
  readonly queueLength: { observe(length: number): void };
  readonly estimatedSeats: { observe(seats: number): void };
  readonly watches: { observe(count: number): void };
  refused(reason: Refusal): void;
}

export class FlowMetrics {
  readonly #families: ReturnType<typeof declare>;
  /** By level and schema: a flow that comes back goes on counting. */
  readonly #series = new Map<string, FlowSeries>();

  constructor(registry: MetricRegistry) {
    this.#families = declare(registry);
  }

  seriesOf(schema: string, level: string): FlowSeries {
    const key = `${level}/${schema}`;
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, (series = this.#make(schema, level)));
    return series;
  }

  #make(schema: string, level: string): FlowSeries {
    const of = <T>(family: { series(...labels: string[]): T }) => family.series(schema, level);
    const { flow, rejected, wait, execution } = this.#families;
    return {
      executing: of(flow.executing),
      seats: of(flow.seats),
      waiting: of(flow.waiting),
      waitingSeats: of(flow.waitingSeats),
      dispatched: of(flow.dispatched),
      waitBeforeExecution: wait.series("true", schema, level),
      waitInVain: wait.series("false", schema, level),
      execution: execution.series(schema, level, "regular"),
      watchBeginning: execution.series(schema, level, "watch"),
      unaccommodated: of(flow.unaccommodated),
      queueLength: of(flow.queueLength),
      estimatedSeats: of(flow.estimatedSeats),
      watches: of(flow.watches),
      refused: (reason) => rejected.add(1, schema, level, reason),
    };
  }

  samplesOf(level: string): LevelSamples {
    const { demand, seatUse, requestUse } = this.#families;
    return {
      demand: demand.series(level),
      seats: seatUse.series("executing", level),
      executing: requestUse.series("executing", level),
      waiting: requestUse.series("waiting", level),
    };
  }

  /** Brings the gauges of the levels to what they are. */
  readLevels(levels: Iterable<PriorityLevel>, fairFraction: number): void {
    const { level: gauges, fairFraction: fraction } = this.#families;
    fraction.set(fairFraction);
    for (const level of levels) {
      const { name, limits, lastPeriod, queueSet } = level;
      gauges.nominal.set(limits.nominal, name);
      gauges.lower.set(limits.lower, name);
      gauges.upper.set(limits.upper, name);
      gauges.current.set(level.isExempt ? lastPeriod.peak : queueSet.limit, name);
      gauges.target.set(level.target, name);
      gauges.average.set(lastPeriod.average, name);
      gauges.deviation.set(lastPeriod.deviation, name);
      gauges.peak.set(lastPeriod.peak, name);
      gauges.smoothed.set(level.smoothed, name);
      if (!level.isExempt) this.#readVirtualTimes(name, queueSet);
    }
  }

  #readVirtualTimes(name: string, { virtualTime, dispatched }: QueueSet): void {
    const { level: gauges, nextStart, nextDiscountedStart } = this.#families;
    gauges.virtualTime.set(virtualTime, name);
    gauges.dispatchedAt.set(dispatched.atR, name);
    gauges.latestStart.set(dispatched.startR, name);
    nextStart.set(dispatched.earliest, "min", name);
    nextStart.set(dispatched.latest, "max", name);
    nextDiscountedStart.set(dispatched.earliestDiscounted, "min", name);
    nextDiscountedStart.set(dispatched.latestDiscounted, "max", name);
  }
}

function declare(registry: MetricRegistry) {
  const prefix = "apiserver_flowcontrol_";
  const labels = ["flow_schema", "priority_level"];
  const gauge = (name: string, help: string): Gauge => registry.gauge(`${prefix}${name}`, help, labels);
  const counter = (name: string, help: string, more: readonly string[] = []): Counter => registry.counter(`${prefix}${name}`, help, [...labels, ...more]);
  const histogram = (name: string, help: string, buckets: readonly number[]): Histogram => registry.histogram(`${prefix}${name}`, help, buckets, labels);
  const ofLevel = (name: string, help: string): Gauge => registry.gauge(`${prefix}${name}`, help, ["priority_level"]);
  return {
    flow: {
      executing: gauge("current_executing_requests", "Requests that execute, watches while they begin included."),
      seats: gauge("current_executing_seats", "Seats that executing requests hold."),
      waiting: gauge("current_inqueue_requests", "Requests that wait in queues."),
      waitingSeats: gauge("current_inqueue_seats", "Seats that waiting requests want."),
      dispatched: counter("dispatched_requests_total", "Requests that began to execute."),
      unaccommodated: counter("request_dispatch_no_accommodation_total", "Times that it was a request's turn and too few seats were free."),
      queueLength: histogram("request_queue_length_after_enqueue", "Length of the queue that a request found, itself included.", lengthBuckets),
      estimatedSeats: histogram("work_estimated_seats", "Seats that requests were estimated to need.", seatBuckets),
      watches: histogram("watch_count_samples", "Watches that are told of a write.", watchBuckets),
    },
    rejected: counter("rejected_requests_total", "Requests that were refused.", ["reason"]),
    wait: registry.histogram(`${prefix}request_wait_duration_seconds`, "Time that requests waited in queues.", waitBuckets, ["execute", ...labels]),
    execution: registry.histogram(`${prefix}request_execution_seconds`, "Time that requests took once they executed.", executionBuckets, [...labels, "type"]),
    demand: registry.histogram(`${prefix}demand_seats`, "Seats wanted, as a fraction of the nominal ones, each nanosecond.", demandBuckets, ["priority_level"]),
    seatUse: registry.histogram(
      `${prefix}priority_level_seat_utilization`,
      "Seats in use, as a fraction of the nominal ones, each nanosecond.",
      seatUseBuckets,
      ["phase", "priority_level"],
    ),
    requestUse: registry.histogram(
      `${prefix}priority_level_request_utilization`,
      "Requests that wait or execute, as a fraction of their limit, each nanosecond.",
      requestUseBuckets,
      ["phase", "priority_level"],
    ),
    nextStart: registry.gauge(`${prefix}next_s_bounds`, "Earliest and latest virtual start of the queues' next requests.", ["bound", "priority_level"]),
    nextDiscountedStart: registry.gauge(
      `${prefix}next_discounted_s_bounds`,
      "Earliest and latest virtual start of the queues' next requests, less the work under way.",
      ["bound", "priority_level"],
    ),
    fairFraction: registry.gauge(`${prefix}seat_fair_frac`, "Fraction of its target that every level gets of the seats."),
    level: {
      nominal: ofLevel("nominal_limit_seats", "Seats of the level by its shares."),
      lower: ofLevel("lower_limit_seats", "Seats of the level that others cannot borrow."),
      upper: ofLevel("upper_limit_seats", "Seats of the level and all that it may borrow."),
      current: ofLevel("current_limit_seats", "Seats that the level has now."),
      target: ofLevel("target_seats", "Seats that the level ought to have."),
      average: ofLevel("demand_seats_average", "Mean of the seats wanted in the last period."),
      deviation: ofLevel("demand_seats_stdev", "Deviation of the seats wanted in the last period."),
      peak: ofLevel("demand_seats_high_watermark", "Most seats wanted in the last period."),
      smoothed: ofLevel("demand_seats_smoothed", "Seats wanted, smoothed over periods."),
      virtualTime: ofLevel("current_r", "Virtual time of the level's queues."),
      dispatchedAt: ofLevel("dispatch_r", "Virtual time when a request was dispatched last."),
      latestStart: ofLevel("latest_s", "Virtual start of the request that was dispatched last."),
    },
  };
}
