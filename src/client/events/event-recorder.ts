import { BoundedQueue } from "../../base/bounded-queue.ts";
import { sleep } from "../../base/clock.ts";
import { isAbort } from "../../base/task-group.ts";
import { isAlreadyExists, isNotFound, StatusError } from "../../apimachinery/status.ts";
import { EventCorrelator } from "./event-correlator.ts";
import { KeyedLanes } from "./keyed-lanes.ts";
import { eventName } from "./event-name.ts";
import { isNamespaceTerminating } from "../requests/status-cause.ts";
import { resources } from "../resources.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Event } from "../../api/core-v1/types.ts";
import type { Client } from "../client.ts";
import type { EventDecision } from "./event-correlator.ts";
import type { ObjectReference } from "../objects/object-reference.ts";

/**
 * Writes core/v1 Events for one component. `record` never waits and never fails; `run` sends up to 16 at a time, those of one event in order. More than 1,000
 * waiting events are dropped, newest first; a server that cannot be reached is tried every 10 s, twelve times.
 */
export class EventRecorder implements EventSink {
  readonly #options: EventRecorderOptions;
  readonly #queue = new BoundedQueue<{ readonly event: DeepReadonly<Event>; readonly recordedMs: number }>(queueLimit);
  /** When a namespace that goes away last refused an event: what was recorded before then would be refused, too. Of the last few namespaces. */
  readonly #refusals = new Map<string, number>();
  readonly #correlator = new EventCorrelator();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(regarding: ObjectReference, event: EventText): void {
    const { clock, random, log } = this.#options;
    const built = buildEvent(regarding, event, { ...this.#options, nowMs: clock.nowMs(), name: eventName(regarding.name ?? "", clock, random) });
    if (!this.#queue.offer({ event: built, recordedMs: clock.monotonicMs() }))
      log.warn("Dropped an event, too many are waiting", { reason: event.reason, object: regarding.name });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { lanes = new KeyedLanes(sendLimit) } = this.#options;
    for await (const { event, recordedMs } of this.#queue.drain(signal)) {
      const decision = this.#correlator.decide(event, this.#options.clock.nowMs());
      if (decision.kind !== "drop")
        await lanes.add(decision.event.metadata.name ?? "", () =>
          this.#isMoot(decision.event, recordedMs) ? Promise.resolve() : this.#send(decision, signal),
        );
    }
    await lanes.join();
  }

  #isMoot({ metadata }: DeepReadonly<Event>, recordedMs: number): boolean {
    return recordedMs < (this.#refusals.get(metadata.namespace ?? "") ?? Number.NEGATIVE_INFINITY);
  }

  #refused(namespace: string): void {
    this.#refusals.delete(namespace);
    this.#refusals.set(namespace, this.#options.clock.monotonicMs());
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > refusalLimit) this.#refusals.delete(oldest!);
  }

  async #send(decision: Exclude<EventDecision, { kind: "drop" }>, signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#options;
    const { reason } = decision.event;
    for (let attempt = 1; attempt <= maxAttempts && !signal.aborted; attempt++) {
      try {
        if (decision.kind === "create") await client.create(resources.events, decision.event, { signal });
        else await patchOrCreate(client, decision, signal);
        return;
      } catch (error) {
        if (isAbort(error, signal)) return;
        if (error instanceof StatusError) {
          // The namespace is going away, or the very event is there: nothing to try again.
          if (isNamespaceTerminating(error)) this.#refused(decision.event.metadata.namespace ?? "");
          if (!isAlreadyExists(error)) log.debug("An event was refused", { reason, error });
          return;
        }
        if (attempt === maxAttempts) log.warn("Could not write an event", { reason, error });
        else await sleep(clock, retryMs, signal).catch(() => undefined);
      }
    }
  }
}

/** What components record through. */
export interface EventSink {
  record(regarding: ObjectReference, event: EventText): void;
}

/** What an Event says. `reason` is one word in CamelCase, `message` a sentence. */
export interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What a recorder of core/v1 Events needs. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** `source.component`, such as `deployment-controller`. */
  readonly component: string;
  /** `source.host`: the node's name, for node agents. */
  readonly host?: string;
  /** Shared by many recorders of one process, so that their events together leave room for what they tell of. Default: 16 of its own. */
  readonly lanes?: KeyedLanes;
}

/** The Event as it is first written. */
export function buildEvent(regarding: ObjectReference, text: EventText, context: { component: string; host?: string; nowMs: number; name: string }): Event {
  const timestamp = new Date(Math.floor(context.nowMs / 1000) * 1000).toISOString().replace(".000Z", "Z");
  return {
    metadata: {
      name: context.name,
      namespace: regarding.namespace === undefined || regarding.namespace === "" ? "default" : regarding.namespace,
      ...(text.annotations !== undefined && { annotations: { ...text.annotations } }),
    },
    involvedObject: { ...regarding },
    reason: text.reason,
    message: text.message,
    source: { component: context.component, ...(context.host !== undefined && { host: context.host }) },
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    count: 1,
    type: text.type,
    reportingComponent: context.component,
    ...(context.host !== undefined && { reportingInstance: context.host }),
  };
}

const queueLimit = 1000;
const refusalLimit = 100;
const sendLimit = 16;
const maxAttempts = 12;
const retryMs = 10_000;

async function patchOrCreate(
  client: Client,
  decision: { name: string; patch: Parameters<Client["patch"]>[3]; event: DeepReadonly<Event> },
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.patch(resources.events, decision.event.metadata.namespace ?? "", decision.name, { ...decision.patch, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(resources.events, decision.event, { signal });
  }
}
