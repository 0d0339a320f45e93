import { BoundedQueue } from "../../base/bounded-queue.ts";
import { isAbort } from "../../base/task-group.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { KeyedLanes } from "./keyed-lanes.ts";
import { eventName } from "./event-name.ts";
import { resources } from "../resources.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Event } from "../../api/events-v1/types.ts";
import type { Client } from "../client.ts";
import type { ObjectReference } from "../objects/object-reference.ts";

/**
 * Writes events.k8s.io/v1 Events (the scheduler does, KEP-383). A repetition within 6 minutes turns the event into a series: the second
 * one is written at once, later ones only count, and the count is written when the series has been silent for 6 minutes or, at the
 * latest, every 30. State: `series` by what makes two events the same (not the note). Driven by `run`.
 */
export class SeriesEventRecorder {
  readonly #options: SeriesEventRecorderOptions;
  readonly #queue = new BoundedQueue<DeepReadonly<Event>>(queueLimit);
  readonly #series = new Map<string, { event: DeepReadonly<Event>; touchedMs: number; writtenMs: number; isWritten: boolean }>();

  constructor(options: SeriesEventRecorderOptions) {
    this.#options = options;
  }

  record(regarding: ObjectReference, text: SeriesEventText): void {
    const event = this.#correlate(regarding, text);
    if (event !== undefined && !this.#queue.offer(event))
      this.#options.log.warn("Dropped an event, too many are waiting", { reason: text.reason, object: regarding.name });
  }

  async run(signal: AbortSignal): Promise<void> {
    let cancel = () => undefined as void;
    const arm = () => {
      cancel = this.#options.clock.after(sweepMs, () => {
        this.#sweep();
        arm();
      });
    };
    arm();
    try {
      const lanes = new KeyedLanes(sendLimit);
      for await (const event of this.#queue.drain(signal)) await lanes.add(event.metadata.name ?? "", () => this.#send(event, signal));
      await lanes.join();
    } finally {
      cancel();
    }
  }

  /** The event to write now, or undefined when counting is enough. */
  #correlate(regarding: ObjectReference, text: SeriesEventText): DeepReadonly<Event> | undefined {
    const { clock, random, controller, instance } = this.#options;
    const nowMs = clock.nowMs();
    const key = JSON.stringify([text.type, text.action, text.reason, identityOf(regarding), text.related === undefined ? "" : identityOf(text.related)]);
    const known = this.#series.get(key);
    if (known !== undefined && nowMs - known.touchedMs < silenceMs) {
      const count = (known.event.series?.count ?? 1) + 1;
      const event = { ...known.event, series: { count, lastObservedTime: microTime(nowMs) } };
      this.#series.set(key, { event, touchedMs: nowMs, writtenMs: count === 2 ? nowMs : known.writtenMs, isWritten: count === 2 });
      return count === 2 ? event : undefined;
    }
    const event: Event = {
      metadata: {
        name: eventName(regarding.name ?? "", clock, random),
        namespace: regarding.namespace === undefined || regarding.namespace === "" ? "default" : regarding.namespace,
      },
      eventTime: microTime(nowMs),
      reportingController: controller,
      reportingInstance: instance,
      action: text.action,
      reason: text.reason,
      regarding: { ...regarding },
      ...(text.related !== undefined && { related: { ...text.related } }),
      note: text.note.slice(0, noteLimit),
      type: text.type,
    };
    this.#series.set(key, { event, touchedMs: nowMs, writtenMs: nowMs, isWritten: true });
    return event;
  }

  /** Writes the counts of series that fell silent, and of long ones; forgets the silent ones. */
  #sweep(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const [key, series] of this.#series) {
      const isSilent = nowMs - series.touchedMs >= silenceMs;
      if (!series.isWritten && (isSilent || nowMs - series.writtenMs >= refreshMs)) {
        this.#queue.offer(series.event);
        this.#series.set(key, { ...series, isWritten: true, writtenMs: nowMs });
      }
      if (isSilent) this.#series.delete(key);
    }
  }

  async #send(event: DeepReadonly<Event>, signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const { namespace = "", name = "" } = event.metadata;
    try {
      if (event.series === undefined) await client.create(resources.seriesEvents, event, { signal });
      else await client.patch(resources.seriesEvents, namespace, name, { type: "strategic", body: { series: event.series }, signal });
    } catch (error) {
      if (isAbort(error, signal)) return;
      if (event.series !== undefined && isNotFound(error)) return this.#send({ ...event, series: undefined } as unknown as DeepReadonly<Event>, signal);
      log.debug("An event was refused", { reason: event.reason, error });
    }
  }
}

/** What such an Event says. `reason` is one word in CamelCase, `note` a sentence. */
export interface SeriesEventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  /** What was done or attempted, such as `Binding`. */
  readonly action: string;
  readonly note: string;
  readonly related?: ObjectReference;
}

/** What a recorder of events.k8s.io/v1 Events needs. */
export interface SeriesEventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** `reportingController`, such as `default-scheduler`. */
  readonly controller: string;
  /** `reportingInstance`, such as `default-scheduler-node1`. */
  readonly instance: string;
}

/** Events that wait: a burst of pods shall not lose its own. */
const queueLimit = 10_000;
/** Few at once: events yield to the writes that they tell of. */
const sendLimit = 4;
const silenceMs = 360_000;
const refreshMs = 1_800_000;
const sweepMs = 60_000;
const noteLimit = 1024;

function identityOf(reference: ObjectReference): string {
  return [reference.kind, reference.namespace, reference.name, reference.uid, reference.apiVersion, reference.resourceVersion, reference.fieldPath].join(
    "\u0000",
  );
}

/** RFC 3339 with microseconds, as metav1.MicroTime is written. */
export function microTime(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/\.(\d{3})Z$/, ".$1000Z");
}
