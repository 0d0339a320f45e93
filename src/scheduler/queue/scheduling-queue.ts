import { Heap } from "../../base/heap.ts";
import { queueSortOf } from "../framework/profile.ts";
import { EventLog } from "./event-log.ts";
import { Listeners, requeueAfter } from "./hints.ts";
import { newEntry, nobody } from "./queue-entry.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { Profile } from "../framework/profile.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Requeue } from "./hints.ts";
import type { QueueEntry } from "./queue-entry.ts";

/**
 * The pods that wait to be scheduled. Driven by the informers' handlers and by the scheduling loop, which pops one pod after the other and
 * gives back those that did not fit. Invariants: a pod has one entry; a popped pod is in flight until `done` or `giveBack`; an event that
 * may help a pod is never lost, whether it comes before, during or after the attempt.
 */
export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions;
  readonly #entries = new Map<string, QueueEntry>();
  readonly #active: Heap<Place>;
  readonly #backoff = new Heap<Place>(byTime);
  /** Pods whose attempt ended in an error are not tried before their time. */
  readonly #errors = new Heap<Place>(byTime);
  readonly #refusedBy = new Map<string, Set<QueueEntry>>();
  readonly #inFlight = new Map<string, QueueEntry>();
  readonly #log = new EventLog();
  readonly #listeners: readonly Listeners[];
  #wake: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #sequence = 0;

  constructor(options: SchedulingQueueOptions) {
    this.#options = options;
    this.#listeners = Array.from(options.profiles.values(), (profile) => new Listeners(profile));
    const compare = queueSortOf(options.profiles.values().next().value!);
    const queued = ({ entry }: Place) => ({ pod: entry.info.pod, priority: entry.info.priority, queuedAtMs: entry.queuedAtMs });
    this.#active = new Heap((a, b) => compare(queued(a), queued(b)) || a.sequence - b.sequence);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The pods that wait, each with where. */
  *waiting(): Generator<QueueEntry> {
    for (const entry of this.#entries.values()) if (entry.place !== "inFlight") yield entry;
  }

  entryOf(uid: string): QueueEntry | undefined {
    return this.#entries.get(uid);
  }

  add(info: PodInfo): void {
    const known = this.#entries.get(info.uid);
    if (known !== undefined) return this.update(info, []);
    const entry = newEntry(info, this.#nowMs());
    this.#entries.set(info.uid, entry);
    this.#enqueue(entry, "now");
  }

  /** A waiting pod changed; `events` tell in which ways. */
  update(info: PodInfo, events: readonly ClusterEvent[]): void {
    const entry = this.#entries.get(info.uid);
    if (entry === undefined) return this.add(info);
    const isReordered = entry.place === "active" && entry.info.priority !== info.priority;
    entry.info = info;
    if (isReordered) this.#put(entry, "active");
    if (entry.place === "inFlight") for (const event of events) this.#log.add(event);
    if (entry.place === "unschedulable") this.#reconsider(entry, events);
  }

  delete(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    this.#entries.delete(uid);
    this.#leave(entry);
    entry.place = "gone";
    this.#endAttempt(uid);
  }

  /** Something happened: pods that it may help are tried again. */
  move(event: ClusterEvent): void {
    if (this.#inFlight.size > 0) this.#log.add(event);
    const candidates = new Set<QueueEntry>();
    for (const listeners of this.#listeners)
      for (const plugin of listeners.of(event)) for (const entry of this.#refusedBy.get(plugin) ?? []) candidates.add(entry);
    for (const entry of candidates) this.#reconsider(entry, [event]);
  }

  /** Tries a pod again without waiting for an event. */
  activate(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined && entry.place === "unschedulable") this.#enqueue(entry, "now");
  }

  /** The next pod to try: of the active ones, or else the one whose back-off ends first. */
  pop(): QueueEntry | undefined {
    this.#endBackoffs();
    const entry = this.#take(this.#active) ?? this.#take(this.#backoff);
    if (entry === undefined) return undefined;
    return this.#begin(entry);
  }

  /** Takes a waiting pod out of line, to be tried along with another; undefined for one that is gated, or being tried already. */
  claim(uid: string): QueueEntry | undefined {
    const entry = this.#entries.get(uid);
    if (entry === undefined || entry.place === "inFlight" || entry.gatedBy !== undefined) return undefined;
    this.#leave(entry);
    return this.#begin(entry);
  }

  #begin(entry: QueueEntry): QueueEntry {
    entry.attempts += 1;
    entry.attemptStartedMs = this.#options.clock.monotonicMs();
    entry.place = "inFlight";
    entry.rejectors = nobody;
    entry.pendingPlugins = nobody;
    entry.logStart = this.#log.end;
    this.#inFlight.set(entry.info.uid, entry);
    return entry;
  }

  /** Resolves when there may be a pod to pop, or `signal` aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    this.#endBackoffs();
    if (signal.aborted || this.#live(this.#active) !== undefined || this.#live(this.#backoff) !== undefined) return;
    const onAbort = () => this.#wake?.();
    signal.addEventListener("abort", onAbort);
    const next = this.#live(this.#errors);
    if (next !== undefined) this.#cancelTimer = this.#options.clock.after(next.atMs - this.#nowMs(), () => this.#wake?.());
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
    this.#cancelTimer?.();
    signal.removeEventListener("abort", onAbort);
  }

  /** The attempt came to a node: events no longer matter to it. */
  done(uid: string): void {
    this.#endAttempt(uid);
    const entry = this.#entries.get(uid);
    if (entry?.place === "inFlight") {
      entry.place = "gone";
      this.#entries.delete(uid);
    }
  }

  /** The attempt failed: the pod waits for an event that may help, or for its back-off after an error. */
  giveBack(entry: QueueEntry, outcome: AttemptOutcome): void {
    const { uid } = entry.info;
    const missed = this.#inFlight.has(uid) ? this.#log.since(entry.logStart) : [];
    this.#endAttempt(uid);
    const known = this.#entries.get(uid);
    if (known === undefined) this.#entries.set(uid, entry);
    else if (known !== entry) return;
    entry.queuedAtMs = this.#nowMs();
    entry.gatedBy = undefined;
    entry.rejectors = outcome.rejectors;
    entry.pendingPlugins = outcome.pendingPlugins;
    // Nobody can tell what would help a pod that no plugin refused: it is tried again, but not at once.
    const isError = outcome.isError || outcome.rejectors.size + outcome.pendingPlugins.size === 0;
    entry.errorCount = isError ? entry.errorCount + 1 : 0;
    if (isError) return this.#enqueue(entry, "afterBackoff");
    entry.unschedulableCount += 1;
    this.#park(entry);
    this.#reconsider(entry, missed);
  }

  /** Tries again the pods that have waited for an event for too long. To be called every 30 s. */
  flush(): void {
    const beforeMs = this.#nowMs() - this.#options.maxUnschedulableMs;
    for (const entry of this.#entries.values())
      if (entry.place === "unschedulable" && entry.gatedBy === undefined && entry.queuedAtMs < beforeMs) this.#enqueue(entry, "afterBackoff");
  }

  #reconsider(entry: QueueEntry, events: readonly ClusterEvent[]): void {
    if (entry.place !== "unschedulable") return;
    let strategy: Requeue = "skip";
    for (const event of events) {
      const answer = requeueAfter(entry, event, this.#profileOf(entry));
      if (answer === "skip") continue;
      strategy = answer;
      if (answer === "now") break;
    }
    if (strategy !== "skip") this.#enqueue(entry, strategy);
  }

  /** Puts a pod in line, unless a plugin keeps it out. */
  #enqueue(entry: QueueEntry, strategy: Exclude<Requeue, "skip">): void {
    for (const plugin of this.#profileOf(entry).plugins) {
      const refusal = plugin.preEnqueue?.(entry.info);
      if (refusal === undefined) continue;
      this.#leave(entry);
      entry.gatedBy = plugin.name;
      entry.rejectors = new Set([plugin.name]);
      return this.#park(entry);
    }
    // A gate that opened owes no back-off.
    const isFresh = entry.gatedBy !== undefined && entry.attempts === 0;
    if (entry.gatedBy !== undefined) entry.queuedAtMs = isFresh ? this.#nowMs() : entry.queuedAtMs;
    if (isFresh) entry.startedAtMs = this.#nowMs();
    entry.gatedBy = undefined;
    const isWaiting = strategy === "afterBackoff" && this.#backoffEndsMs(entry) > this.#nowMs();
    this.#put(entry, isWaiting ? "backoff" : "active");
    this.#wake?.();
  }

  #put(entry: QueueEntry, place: "active" | "backoff"): void {
    this.#leave(entry);
    entry.place = place;
    const heap = place === "active" ? this.#active : entry.errorCount > 0 ? this.#errors : this.#backoff;
    heap.push({ entry, ticket: ++entry.ticket, sequence: this.#sequence++, atMs: this.#backoffEndsMs(entry) });
  }

  #park(entry: QueueEntry): void {
    entry.place = "unschedulable";
    for (const plugin of rejectorsOf(entry)) {
      let entries = this.#refusedBy.get(plugin);
      if (entries === undefined) this.#refusedBy.set(plugin, (entries = new Set()));
      entries.add(entry);
    }
  }

  #leave(entry: QueueEntry): void {
    entry.ticket += 1;
    if (entry.place === "unschedulable") for (const plugin of rejectorsOf(entry)) this.#refusedBy.get(plugin)?.delete(entry);
  }

  #endAttempt(uid: string): void {
    if (!this.#inFlight.delete(uid)) return;
    const oldest = this.#inFlight.values().next().value;
    if (oldest === undefined) this.#log.clear();
    else this.#log.trim(oldest.logStart);
  }

  #endBackoffs(): void {
    const nowMs = this.#nowMs();
    for (const heap of [this.#backoff, this.#errors])
      for (let place = this.#live(heap); place !== undefined && place.atMs <= nowMs; place = this.#live(heap)) this.#put(this.#take(heap)!, "active");
  }

  #backoffEndsMs(entry: QueueEntry): number {
    const failures = entry.errorCount > 0 ? entry.errorCount : entry.unschedulableCount;
    if (failures === 0) return 0;
    return entry.queuedAtMs + Math.min(this.#options.maxBackoffMs, this.#options.initialBackoffMs * 2 ** (failures - 1));
  }

  /** The first of a heap that is still where it was. */
  #live(heap: Heap<Place>): Place | undefined {
    for (let place = heap.peek(); place !== undefined; place = heap.peek()) {
      if (place.ticket === place.entry.ticket && place.entry.place !== "gone") return place;
      heap.pop();
    }
    return undefined;
  }

  #take(heap: Heap<Place>): QueueEntry | undefined {
    if (this.#live(heap) === undefined) return undefined;
    const { entry } = heap.pop()!;
    entry.ticket += 1;
    return entry;
  }

  #profileOf(entry: QueueEntry): Profile {
    const { profiles } = this.#options;
    return profiles.get(entry.info.pod.spec?.schedulerName ?? "") ?? profiles.values().next().value!;
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

export interface SchedulingQueueOptions {
  readonly clock: Clock;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly maxUnschedulableMs: number;
}

export interface AttemptOutcome {
  readonly rejectors: ReadonlySet<string>;
  readonly pendingPlugins: ReadonlySet<string>;
  readonly isError: boolean;
}

interface Place {
  readonly entry: QueueEntry;
  readonly ticket: number;
  readonly sequence: number;
  /** When its back-off ends. */
  readonly atMs: number;
}

function byTime(left: Place, right: Place): number {
  return left.atMs - right.atMs || left.sequence - right.sequence;
}

function rejectorsOf(entry: QueueEntry): Iterable<string> {
  return entry.rejectors.union(entry.pendingPlugins);
}
