/** Where audit events go, and what lies between: several sinks, batches, truncation. */
import type { Clock } from "../../base/clock.ts";
import type { Counter, MetricRegistry } from "../../base/metrics.ts";
import type { Log } from "../../base/log.ts";
import { sizeOf, truncateEvent } from "./event.ts";
import type { AuditEvent } from "./event.ts";

export interface AuditSink {
  /** Takes events in; false when one was not recorded. Never throws. */
  process(events: readonly AuditEvent[]): boolean | Promise<boolean>;
  /** The server ends: pauses before another try are over. */
  hurry?(): void;
  /** Resolves when everything taken in was recorded or given up. */
  close(): Promise<void>;
}

/** What went wrong with events, counted and told in the log. */
export class AuditFailures {
  readonly #errors: Counter;
  readonly #log: Log;

  constructor(metrics: MetricRegistry, log: Log) {
    this.#errors = metrics.counter("apiserver_audit_error_total", "Audit events that could not be recorded.", ["plugin"]);
    this.#log = log;
  }

  note(plugin: string, events: readonly AuditEvent[], reason: string): false {
    this.#errors.add(events.length, plugin);
    this.#log.error("Could not record audit events", { plugin, count: events.length, reason });
    return false;
  }
}

/** All sinks get all events. */
export function allSinks(sinks: readonly AuditSink[]): AuditSink {
  return {
    process(events) {
      const results = sinks.map((sink) => sink.process(events));
      return results.every((result) => typeof result === "boolean") ? results.every(Boolean) : Promise.all(results).then((all) => all.every(Boolean));
    },
    close: async () => void (await Promise.all(sinks.map((sink) => sink.close()))),
  };
}

export interface TruncationOptions {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

/** Cuts events that are too long, and splits batches that are. */
export function truncating(sink: AuditSink, { maxEventBytes, maxBatchBytes }: TruncationOptions, failures: AuditFailures): AuditSink {
  return {
    async process(events) {
      const shortened = events.map((event) => truncateEvent(event, maxEventBytes));
      const dropped = events.filter((_, index) => shortened[index] === undefined);
      let isRecorded = dropped.length === 0 || failures.note("truncate", dropped, "the events are too large even without their objects");
      let batch: AuditEvent[] = [];
      let bytes = 0;
      const flush = async () => {
        if (batch.length > 0 && !(await sink.process(batch))) isRecorded = false;
        batch = [];
        bytes = 0;
      };
      for (const event of shortened) {
        if (event === undefined) continue;
        const size = sizeOf(event);
        if (bytes + size > maxBatchBytes) await flush();
        batch.push(event);
        bytes += size;
      }
      await flush();
      return isRecorded;
    },
    hurry: () => sink.hurry?.(),
    close: () => sink.close(),
  };
}

export interface BatchOptions {
  /** Events that may wait; more are dropped. */
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  readonly maxWaitMs: number;
  /** Batches a second and how many at once; absent: as they come. */
  readonly throttle?: { readonly perSecond: number; readonly burst: number };
  /** Whether several batches may be on their way. */
  readonly isConcurrent: boolean;
  readonly clock: Clock;
}

/** Most batches on their way at once. */
const concurrencyLimit = 16;

/**
 * Takes events in at once and hands them on in batches: when there are enough, or when the first has waited long enough. What finds the
 * buffer full is dropped. One loop; it ends when closed and the buffer is empty.
 */
export class BatchingSink implements AuditSink {
  readonly #sink: AuditSink;
  readonly #options: BatchOptions;
  readonly #failures: AuditFailures;
  #buffer: AuditEvent[] = [];
  #cancelTimer: (() => void) | undefined;
  readonly #sending = new Set<Promise<unknown>>();
  #tokens: number;
  #filledMs: number;
  #isClosing = false;
  #onIdle: (() => void) | undefined;

  constructor(sink: AuditSink, options: BatchOptions, failures: AuditFailures) {
    this.#sink = sink;
    this.#options = options;
    this.#failures = failures;
    this.#tokens = options.throttle?.burst ?? 0;
    this.#filledMs = options.clock.monotonicMs();
  }

  process(events: readonly AuditEvent[]): boolean {
    if (this.#isClosing) return this.#failures.note("buffered", events, "audit backend shut down");
    const room = this.#options.bufferSize - this.#buffer.length;
    this.#buffer.push(...events.slice(0, room));
    this.#schedule();
    return events.length <= room || this.#failures.note("buffered", events.slice(Math.max(0, room)), "audit buffer queue blocked");
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancel();
    this.#sink.hurry?.();
    this.#flush();
    if (this.#buffer.length > 0 || this.#sending.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#sink.close();
  }

  /** Sends at once what makes a whole batch; the rest when its time has come. */
  #schedule(): void {
    while (this.#buffer.length >= this.#options.maxBatchSize && this.#maySend()) this.#send();
    if (this.#buffer.length === 0 || this.#cancelTimer !== undefined) return;
    const isFull = this.#buffer.length >= this.#options.maxBatchSize;
    // A full batch that may not go yet waits for a token, or for one on its way to arrive.
    const waitMs = isFull ? this.#nextTokenMs() : this.#options.maxWaitMs;
    if (isFull && this.#isOccupied()) return;
    this.#cancelTimer = this.#options.clock.after(waitMs, () => {
      this.#cancelTimer = undefined;
      if (this.#buffer.length > 0 && this.#maySend()) this.#send();
      this.#schedule();
    });
  }

  /** At the end nothing waits for time or tokens. */
  #flush(): void {
    while (this.#buffer.length > 0 && !this.#isOccupied()) this.#send();
  }

  #send(): void {
    this.#cancel();
    if (this.#options.throttle !== undefined) this.#tokens -= 1;
    const sent = Promise.resolve(this.#sink.process(this.#buffer.splice(0, this.#options.maxBatchSize))).then(() => {
      this.#sending.delete(sent);
      if (this.#isClosing) this.#flush();
      else this.#schedule();
      if (this.#buffer.length === 0 && this.#sending.size === 0) this.#onIdle?.();
    });
    this.#sending.add(sent);
  }

  #isOccupied(): boolean {
    return this.#sending.size >= (this.#options.isConcurrent ? concurrencyLimit : 1);
  }

  #maySend(): boolean {
    return !this.#isOccupied() && (this.#options.throttle === undefined || this.#nextTokenMs() === 0);
  }

  /** Time until a batch may be sent. */
  #nextTokenMs(): number {
    const { throttle, clock } = this.#options;
    if (throttle === undefined) return 0;
    const nowMs = clock.monotonicMs();
    this.#tokens = Math.min(throttle.burst, this.#tokens + ((nowMs - this.#filledMs) / 1000) * throttle.perSecond);
    this.#filledMs = nowMs;
    // A millisecond's fraction of a token is rounding.
    return this.#tokens >= 0.999 ? 0 : Math.ceil(((1 - this.#tokens) / throttle.perSecond) * 1000);
  }

  #cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
