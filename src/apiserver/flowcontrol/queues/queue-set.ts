/**
 * The queues of one priority level and the choice whose turn it is: fair queuing by virtual time (KEP-1040, "Fair Queuing for Server
 * Requests"). Does no I/O and reads no clock: whoever drives it tells the time (monotonic ms) and calls what is returned.
 *
 * Invariants: `seatsInUse` is the sum over executing requests and over what they left behind; no request waits while the one whose turn it
 * is would fit; the virtual time R advances by (seats that are given out) / (queues that want any) a second.
 */
import { guessedSeconds, workOf } from "./seat-request.ts";
import type { FairQueue, SeatRequest } from "./seat-request.ts";

export interface QueueSetConfig {
  /** 0: what does not fit is refused. */
  readonly queues: number;
  readonly queueLengthLimit: number;
}

export type Arrival = "executing" | "waiting" | "queue-full" | "concurrency-limit";

/** In virtual time: of the last dispatch, and of the starts of what was first in each queue then (discounted: less the work under way). */
export interface LastDispatch {
  atR: number;
  startR: number;
  earliest: number;
  latest: number;
  earliestDiscounted: number;
  latestDiscounted: number;
}

const nobody: readonly SeatRequest[] = [];

export class QueueSet {
  #config: QueueSetConfig;
  #limit: number;
  /** By index: those in which something waits or runs. */
  readonly #queues = new Map<number, FairQueue>();
  /** Requests that run without having a queue. */
  readonly #unqueued = new Set<SeatRequest>();
  #seatsInUse = 0;
  #seatsWaiting = 0;
  #waiting = 0;
  #executing = 0;
  #virtualTime = 0;
  #advancedMs: number;
  #lastPicked = -1;
  /** When a request was dispatched last, and what it was chosen among; for metrics. */
  readonly dispatched: LastDispatch = { atR: 0, startR: 0, earliest: 0, latest: 0, earliestDiscounted: 0, latestDiscounted: 0 };

  constructor(config: QueueSetConfig, limit: number, nowMs: number) {
    this.#config = config;
    this.#limit = limit;
    this.#advancedMs = nowMs;
  }

  get seatsInUse(): number {
    return this.#seatsInUse;
  }
  get seatsWaiting(): number {
    return this.#seatsWaiting;
  }
  get waiting(): number {
    return this.#waiting;
  }
  get executing(): number {
    return this.#executing;
  }
  get activeQueues(): number {
    return this.#queues.size;
  }
  get queueCount(): number {
    return this.#config.queues;
  }
  get virtualTime(): number {
    return this.#virtualTime;
  }
  get limit(): number {
    return this.#limit;
  }
  /** By index; empty ones are left out. */
  get queues(): ReadonlyMap<number, FairQueue> {
    return this.#queues;
  }
  get unqueued(): ReadonlySet<SeatRequest> {
    return this.#unqueued;
  }
  get isIdle(): boolean {
    return this.#executing === 0 && this.#waiting === 0 && this.#seatsInUse === 0;
  }

  /** Takes in a request. `hand` are the queues that its flow may use; not asked for where there is one queue or none. */
  arrive(request: SeatRequest, nowMs: number, hand?: () => Uint32Array): Arrival {
    this.#advance(nowMs);
    if (this.#config.queues === 0) {
      if (!this.#fits(request)) return "concurrency-limit";
      this.#begin(request, undefined, nowMs);
      return "executing";
    }
    const index = this.#config.queues === 1 ? 0 : this.#shortest(hand!());
    if (this.#waiting === 0 && this.#fits(request)) {
      const queue = this.#activate(index);
      queue.nextDispatchR = Math.max(queue.nextDispatchR, this.#virtualTime);
      this.#noteStarts(queue.nextDispatchR, queue.nextDispatchR - workUnderWay(queue), true);
      this.#begin(request, queue, nowMs);
      return "executing";
    }
    if ((this.#queues.get(index)?.waiting.length ?? 0) >= this.#config.queueLengthLimit) return "queue-full";
    this.#enqueue(request, this.#activate(index));
    return "waiting";
  }

  /** Starts what may start; to be called after an arrival that waits, since it may be its turn. Returns what was started. */
  dispatch(nowMs: number): readonly SeatRequest[] {
    this.#advance(nowMs);
    return this.#dispatch(nowMs);
  }

  /** Forgets a request that waits. Returns what may start because of it. */
  giveUp(request: SeatRequest, nowMs: number): readonly SeatRequest[] {
    this.#advance(nowMs);
    const queue = request.queue!;
    queue.waiting.splice(queue.waiting.indexOf(request), 1);
    this.#dequeued(request, queue);
    request.state = "done";
    this.#dropEmpty(queue);
    return this.#dispatch(nowMs);
  }

  /** A request was answered. It gives back its seats but those that its work estimate keeps until `release`. Returns what may start. */
  finish(request: SeatRequest, nowMs: number): readonly SeatRequest[] {
    this.#advance(nowMs);
    const { queue, work } = request;
    request.state = "done";
    this.#executing -= 1;
    const kept = work.afterMs > 0 ? work.finalSeats : 0;
    this.#freeSeats(queue, request.seats - kept);
    if (queue === undefined) {
      this.#unqueued.delete(request);
    } else {
      queue.executing.delete(request);
      // The guess turns out to have been wrong by so much.
      queue.nextDispatchR -= (guessedSeconds - (nowMs - request.startedMs) / 1000) * work.initialSeats;
      this.#dropEmpty(queue);
    }
    return this.#dispatch(nowMs);
  }

  /** Gives back the seats that a finished request had kept. Returns what may start. */
  release(request: SeatRequest, nowMs: number): readonly SeatRequest[] {
    this.#advance(nowMs);
    this.#freeSeats(request.queue, request.work.finalSeats);
    return this.#dispatch(nowMs);
  }

  /** Follows a change of the level's configuration. Returns what may start. */
  configure(config: QueueSetConfig, nowMs: number): readonly SeatRequest[] {
    this.#advance(nowMs);
    this.#config = config;
    return this.#dispatch(nowMs);
  }

  /** Returns what may start. A lower limit ends nothing that runs. */
  setLimit(limit: number, nowMs: number): readonly SeatRequest[] {
    this.#advance(nowMs);
    this.#limit = limit;
    return this.#dispatch(nowMs);
  }

  /** Brings the virtual time up to date. */
  #advance(nowMs: number): void {
    const passedMs = nowMs - this.#advancedMs;
    this.#advancedMs = nowMs;
    if (passedMs <= 0 || this.#queues.size === 0) return;
    const seats = Math.min(this.#seatsInUse + this.#seatsWaiting, this.#limit);
    this.#virtualTime += ((passedMs / 1000) * seats) / this.#queues.size;
  }

  /** What is wider than the level runs alone. */
  #fits({ seats }: SeatRequest): boolean {
    return this.#seatsInUse === 0 || this.#seatsInUse + seats <= this.#limit;
  }

  /** The queue of the hand that has the least to do. */
  #shortest(hand: Uint32Array): number {
    let best = hand[0]!;
    let least = Number.POSITIVE_INFINITY;
    for (const card of hand) {
      const queue = this.#queues.get(card);
      if (queue === undefined) return card;
      const load = queue.waitingWork + workUnderWay(queue);
      if (load < least) {
        least = load;
        best = card;
      }
    }
    return best;
  }

  #enqueue(request: SeatRequest, queue: FairQueue): void {
    request.state = "waiting";
    request.queue = queue;
    request.arrivedR = this.#virtualTime;
    if (queue.waiting.length === 0) queue.nextDispatchR = Math.max(queue.nextDispatchR, request.arrivedR);
    queue.waiting.push(request);
    queue.waitingWork += workOf(request.work);
    this.#waiting += 1;
    this.#seatsWaiting += request.seats;
  }

  #dequeued(request: SeatRequest, queue: FairQueue): void {
    queue.waitingWork -= workOf(request.work);
    if (queue.waiting.length === 0) queue.waitingWork = 0;
    this.#waiting -= 1;
    this.#seatsWaiting -= request.seats;
    const next = queue.waiting[0];
    // In the virtual world nothing starts before it has come.
    if (next !== undefined) queue.nextDispatchR = Math.max(queue.nextDispatchR, next.arrivedR);
  }

  /** Starts all that may start, in order. */
  #dispatch(nowMs: number): readonly SeatRequest[] {
    if (this.#waiting === 0) return nobody;
    const started: SeatRequest[] = [];
    while (this.#waiting > 0) {
      const queue = this.#next();
      const request = queue.waiting[0]!;
      if (!this.#fits(request)) {
        request.onUnaccommodated?.();
        break;
      }
      this.#lastPicked = queue.index;
      queue.waiting.shift();
      this.#begin(request, queue, nowMs);
      this.#dequeued(request, queue);
      started.push(request);
    }
    return started;
  }

  /** The queue whose first request would be done first in the virtual world; among equals the next in turn after the one picked last. */
  #next(): FairQueue {
    let best: FairQueue | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) {
      const first = queue.waiting[0];
      if (first === undefined) continue;
      this.#noteStarts(queue.nextDispatchR, queue.nextDispatchR - workUnderWay(queue), best === undefined);
      const finish = queue.nextDispatchR + workOf(first.work);
      if (finish < earliest || (finish === earliest && this.#turnOf(queue) < this.#turnOf(best!))) {
        earliest = finish;
        best = queue;
      }
    }
    return best!;
  }

  #noteStarts(start: number, discounted: number, isFirst: boolean): void {
    const noted = this.dispatched;
    noted.earliest = isFirst ? start : Math.min(noted.earliest, start);
    noted.latest = isFirst ? start : Math.max(noted.latest, start);
    noted.earliestDiscounted = isFirst ? discounted : Math.min(noted.earliestDiscounted, discounted);
    noted.latestDiscounted = isFirst ? discounted : Math.max(noted.latestDiscounted, discounted);
  }

  #turnOf({ index }: FairQueue): number {
    return index > this.#lastPicked ? index - this.#lastPicked : index + Number.MAX_SAFE_INTEGER / 2;
  }

  #begin(request: SeatRequest, queue: FairQueue | undefined, nowMs: number): void {
    request.state = "executing";
    request.startedMs = nowMs;
    request.queue = queue;
    this.#executing += 1;
    this.#seatsInUse += request.seats;
    if (queue === undefined) {
      this.#unqueued.add(request);
      return;
    }
    queue.executing.add(request);
    queue.seatsInUse += request.seats;
    this.dispatched.atR = this.#virtualTime;
    this.dispatched.startR = queue.nextDispatchR;
    queue.nextDispatchR += workOf(request.work);
  }

  #freeSeats(queue: FairQueue | undefined, seats: number): void {
    this.#seatsInUse -= seats;
    if (queue !== undefined) queue.seatsInUse -= seats;
  }

  #activate(index: number): FairQueue {
    let queue = this.#queues.get(index);
    if (queue === undefined)
      this.#queues.set(index, (queue = { index, waiting: [], executing: new Set(), nextDispatchR: this.#virtualTime, seatsInUse: 0, waitingWork: 0 }));
    return queue;
  }

  #dropEmpty(queue: FairQueue): void {
    if (queue.waiting.length === 0 && queue.executing.size === 0) this.#queues.delete(queue.index);
  }
}

/** In seat-seconds, as it was guessed. */
function workUnderWay({ seatsInUse }: FairQueue): number {
  return seatsInUse * guessedSeconds;
}
