import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Event } from "../../api/core-v1/types.ts";
import type { Patch } from "../requests/request-builder.ts";

/**
 * Decides what becomes of an event that a component wants to record, so that neither a loop nor a broken object floods the API:
 * - similar: from the tenth different message in 600 s with the same source, object, type and reason on, they are written as one event,
 *   "(combined from similar events): …"
 * - repeated: an event told before has its count raised by a patch
 * - spam: each source and object may send 25 at once, then one every 300 s; more are dropped, but counted
 * State: three maps of at most 4,096 keys each, the least recently used forgotten. Times are in milliseconds.
 */
export class EventCorrelator {
  readonly #buckets = new RecentMap<{ tokens: number; atMs: number }>();
  readonly #similar = new RecentMap<{ messages: Set<string>; atMs: number }>();
  readonly #told = new RecentMap<{ name: string; count: number; firstTimestamp: string | undefined }>();

  decide(event: DeepReadonly<Event>, nowMs: number): EventDecision {
    const { subject, key } = this.#combine(event, nowMs);
    const told = this.#told.get(key);
    const count = (told?.count ?? 0) + 1;
    const name = told?.name ?? subject.metadata.name ?? "";
    const firstTimestamp = told?.firstTimestamp ?? subject.firstTimestamp;
    this.#told.set(key, { name, count, firstTimestamp });
    if (!this.#takeToken(event, nowMs)) return { kind: "drop" };
    if (told === undefined) return { kind: "create", event: subject };
    const body = { count, lastTimestamp: subject.lastTimestamp, message: subject.message };
    const whole: DeepReadonly<Event> = { ...subject, metadata: { ...subject.metadata, name }, count, ...(firstTimestamp !== undefined && { firstTimestamp }) };
    return { kind: "patch", name, patch: { type: "strategic", body }, event: whole };
  }

  #takeToken(event: DeepReadonly<Event>, nowMs: number): boolean {
    const key = joined(sourceKey(event), referenceKey(event));
    const known = this.#buckets.get(key) ?? { tokens: spamBurst, atMs: nowMs };
    const tokens = Math.min(spamBurst, known.tokens + (nowMs - known.atMs) / spamIntervalMs);
    this.#buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs });
    return tokens >= 1;
  }

  /** The event to write, and the key under which repetitions of it count. */
  #combine(event: DeepReadonly<Event>, nowMs: number): { subject: DeepReadonly<Event>; key: string } {
    const group = joined(sourceKey(event), referenceKey(event), event.type, event.reason, event.reportingComponent, event.reportingInstance);
    const known = this.#similar.get(group);
    const isRecent = known !== undefined && nowMs - known.atMs <= similarIntervalMs;
    const messages = isRecent ? known.messages : new Set<string>();
    const message = event.message ?? "";
    messages.add(message);
    this.#similar.set(group, { messages, atMs: nowMs });
    if (messages.size < similarLimit) return { subject: event, key: joined(group, event.involvedObject.fieldPath, message) };
    messages.delete(message);
    return { subject: { ...event, message: `${combinedPrefix}${message}` }, key: group };
  }
}

/** `patch` names the event to change; when that is gone, `event` is to be created in its place. */
export type EventDecision =
  | { readonly kind: "drop" }
  | { readonly kind: "create"; readonly event: DeepReadonly<Event> }
  | { readonly kind: "patch"; readonly name: string; readonly patch: Patch; readonly event: DeepReadonly<Event> };

const spamBurst = 25;
const spamIntervalMs = 300_000;
const similarLimit = 10;
const similarIntervalMs = 600_000;
const combinedPrefix = "(combined from similar events): ";
const recentLimit = 4096;

function sourceKey(event: DeepReadonly<Event>): string {
  return joined(event.source?.component, event.source?.host);
}

function referenceKey({ involvedObject }: DeepReadonly<Event>): string {
  return joined(involvedObject.kind, involvedObject.namespace, involvedObject.name, involvedObject.uid, involvedObject.apiVersion);
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.map((part) => part ?? "").join("\u0000");
}

/** A map that forgets the least recently set of its keys. */
class RecentMap<V> {
  readonly #values = new Map<string, V>();

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= recentLimit) return;
    for (const oldest of this.#values.keys()) return void this.#values.delete(oldest);
  }
}
