/**
 * Clients that use a store of keys side by side, from a seed: each reads, lists, and writes what it believes to be the newest state, or a
 * state it knows to be old. Watchers follow meanwhile: they go on where they were when a watch fails, and list anew when history is gone.
 * In between, the subject crashes and comes back.
 */
import type { Random } from "../../../src/base/random.ts";
import { loopTurn } from "../../../src/base/virtual-clock.ts";
import { History } from "./history.ts";
import type { Call, Change, Kept, Outcome, Watching } from "./history.ts";

/** What the clients use. Calls reject when they fail. */
export interface Subject {
  /** Never `unknown`: a call without an answer rejects. */
  call(client: number, key: string, call: Call): Promise<Outcome>;
  list(client: number): Promise<{ readonly items: ReadonlyMap<string, Kept>; readonly revision: number }>;
  /** Ends when `signal` aborts. Rejects when it breaks off; `isHistoryGone` tells whether the same watch can be had again. */
  watch(client: number, after: number, signal: AbortSignal): AsyncIterable<{ readonly changes: readonly Change[]; readonly revision: number }>;
  isHistoryGone(error: unknown): boolean;
  /** Lets whatever waits inside go on: time, the loop. */
  turn(): Promise<void>;
  /** Falls over with whatever is under way, and comes back with what was acknowledged. */
  crash(): Promise<void>;
}

export interface WorkloadOptions {
  readonly random: Random;
  readonly clients: number;
  readonly steps: number;
  readonly keys: number;
  readonly watchers: number;
  readonly crashes: number;
  /** Turns that a watch may take to show the last write. */
  readonly patience: number;
}

/** Runs the clients to their end, and waits until every watch has shown the last write. */
export async function runWorkload(subject: Subject, options: WorkloadOptions): Promise<History> {
  return new Workload(subject, options).run();
}

class Workload {
  readonly #subject: Subject;
  readonly #options: WorkloadOptions;
  readonly #history = new History();
  /** The newest revision of each key that any client has heard of. */
  readonly #heard = new Map<string, number>();
  readonly #leaving = new AbortController();
  #values = 0;
  #steps = 0;

  constructor(subject: Subject, options: WorkloadOptions) {
    this.#subject = subject;
    this.#options = options;
  }

  async run(): Promise<History> {
    const { clients, watchers, crashes, steps, patience } = this.#options;
    const watching = Array.from({ length: watchers }, (_, index) => this.#follow(index));
    const working = Array.from({ length: clients }, (_, index) => this.#work(index));
    const isOver = over(Promise.all(working));
    for (let crash = 1; crash <= crashes; crash++) {
      await this.#turnUntil(() => isOver() || this.#steps >= (crash * clients * steps) / (crashes + 1));
      await this.#subject.crash();
    }
    await this.#turnUntil(isOver);
    await Promise.all(working);
    await this.#turnUntil(over(this.#write(0, "last", { kind: "put", value: "last", expected: 0 })));
    await this.#turnUntil(over(this.#list(0)));
    const last = this.#history.newestRevision;
    const current = () => this.#history.watchings.filter((one) => one.reached >= last).length >= watchers;
    for (let turns = 0; !current() && turns < patience; turns++) await this.#subject.turn();
    if (!current()) this.#history.unseen = last;
    this.#leaving.abort(new DOMException("the client left", "AbortError"));
    await Promise.all(watching);
    return this.#history;
  }

  async #turnUntil(isReached: () => boolean): Promise<void> {
    while (!isReached()) await this.#subject.turn();
  }

  async #work(client: number): Promise<void> {
    const { random, steps, keys } = this.#options;
    for (let step = 0; step < steps; step++, this.#steps++) {
      const key = `key-${random.integer(keys)}`;
      const choice = random.integer(20);
      if (choice < 2) await this.#list(client);
      else await this.#write(client, key, choice < 7 ? { kind: "get" } : this.#mutation(key, choice));
      for (let pause = random.integer(4); pause > 0; pause--) await loopTurn();
    }
  }

  #mutation(key: string, choice: number): Call {
    const { random } = this.#options;
    const heard = this.#heard.get(key) ?? 0;
    const expected = random.integer(10) === 0 ? Math.max(0, heard - 1 - random.integer(3)) : heard;
    return choice < 11 && expected > 0 ? { kind: "delete", expected } : { kind: "put", value: `value-${++this.#values}`, expected };
  }

  async #write(client: number, key: string, call: Call): Promise<void> {
    const invokedAt = this.#history.tick();
    const outcome = await this.#subject.call(client, key, call).catch((): Outcome => ({ kind: "unknown" }));
    const returnedAt = outcome.kind === "unknown" ? Number.POSITIVE_INFINITY : this.#history.tick();
    this.#history.operations.push({ key, call, invokedAt, returnedAt, outcome });
    if (outcome.kind === "committed") this.#heard.set(key, call.kind === "put" ? outcome.revision! : 0);
    const kept = outcome.kind === "read" ? outcome : outcome.kind === "refused" ? outcome.current : undefined;
    if (kept !== undefined) this.#heard.set(key, kept.kept?.revision ?? 0);
  }

  async #list(client: number): Promise<number | undefined> {
    const invokedAt = this.#history.tick();
    const listed = await this.#subject.list(client).catch(() => undefined);
    if (listed === undefined) return undefined;
    this.#history.listings.push({ invokedAt, returnedAt: this.#history.tick(), ...listed });
    for (const [key, kept] of listed.items) this.#heard.set(key, kept.revision);
    return listed.revision;
  }

  async #follow(client: number): Promise<void> {
    const { signal } = this.#leaving;
    let after: number | undefined;
    while (!signal.aborted) {
      after ??= await this.#list(client);
      if (after === undefined) {
        await loopTurn();
        continue;
      }
      const watching: Watching = { after, changes: [], reached: after };
      this.#history.watchings.push(watching);
      try {
        for await (const { changes, revision } of this.#subject.watch(client, after, signal)) {
          watching.changes.push(...changes);
          watching.reached = Math.max(watching.reached, revision);
        }
        after = watching.reached;
      } catch (error) {
        after = this.#subject.isHistoryGone(error) ? undefined : watching.reached;
      }
      // A store that is down would be asked without end.
      await loopTurn();
    }
  }
}

/** Whether `work` has ended, either way. */
function over(work: Promise<unknown>): () => boolean {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  return () => isOver;
}
