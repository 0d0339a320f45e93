/**
 * Whether each key behaved as one register with compare-and-swap (Wing and Gong's search, with the states met before remembered): there has
 * to be an order of its operations, each at a moment between its call and its answer, in which every answer is the right one. Keys are
 * looked at one by one: a history is linearizable when that of every object in it is (Herlihy and Wing, 1990).
 */
import { describeOperation } from "./history.ts";
import type { History, Kept, Operation } from "./history.ts";

/** Says what cannot be explained; undefined when everything can. */
export function checkKeys(history: History): string | undefined {
  const revisions = revisionsOfValues(history);
  for (const [key, operations] of Map.groupBy(history.operations, (operation) => operation.key)) {
    const fault = new Search(operations, revisions).run();
    if (fault !== undefined) return `${key} is no register: no moment for ${fault}`;
  }
  return undefined;
}

/** What a key holds, and the newest revision it ever had. `revision` 0: nothing; negative: a write whose revision nobody saw. */
interface State {
  readonly revision: number;
  readonly value: string;
  readonly newest: number;
}

class Search {
  readonly #operations: readonly Operation[];
  readonly #revisions: ReadonlyMap<string, number>;
  readonly #met = new Set<string>();
  readonly #isDone: boolean[];
  #left: number;
  /** The furthest that any order came, and what was missing there. */
  #fewestLeft = Number.POSITIVE_INFINITY;
  #stuckAt: Operation | undefined;

  constructor(operations: readonly Operation[], revisions: ReadonlyMap<string, number>) {
    this.#operations = operations.toSorted((a, b) => a.invokedAt - b.invokedAt);
    this.#revisions = revisions;
    this.#isDone = operations.map(() => false);
    this.#left = operations.filter(({ outcome }) => outcome.kind !== "unknown").length;
  }

  run(): string | undefined {
    return this.#from({ revision: 0, value: "", newest: 0 }, 0) ? undefined : describeOperation(this.#stuckAt!);
  }

  /** Whether what is not done can follow on `state`. All before `first` is done. */
  #from(state: State, first: number): boolean {
    if (this.#left === 0) return true;
    while (this.#isDone[first] === true) first++;
    const situation = `${this.#isDone.slice(first).map(Number).join("")} ${first} ${state.revision} ${state.newest}`;
    if (this.#met.has(situation)) return false;
    this.#met.add(situation);
    const firstAnswer = this.#firstAnswer(first);
    this.#note(firstAnswer);
    for (let index = first; index < this.#operations.length && this.#operations[index]!.invokedAt < firstAnswer.returnedAt; index++) {
      const next = this.#isDone[index] === true ? undefined : this.#step(state, index);
      if (next === undefined) continue;
      const isKnown = this.#operations[index]!.outcome.kind !== "unknown";
      this.#isDone[index] = true;
      if (isKnown) this.#left--;
      if (this.#from(next, first)) return true;
      this.#isDone[index] = false;
      if (isKnown) this.#left++;
    }
    return false;
  }

  /** The operation that was answered first of those that are not done: it has to happen before anything that was called later. */
  #firstAnswer(first: number): Operation {
    let answered = this.#operations[first]!;
    for (let index = first; index < this.#operations.length; index++) {
      const operation = this.#operations[index]!;
      if (this.#isDone[index] !== true && operation.returnedAt < answered.returnedAt) answered = operation;
    }
    return answered;
  }

  #note(missing: Operation): void {
    if (this.#left >= this.#fewestLeft) return;
    this.#fewestLeft = this.#left;
    this.#stuckAt = missing;
  }

  /** The state after an operation; undefined when it cannot have had its outcome on `state`. */
  #step(state: State, index: number): State | undefined {
    const { call, outcome } = this.#operations[index]!;
    if (call.kind === "get") return outcome.kind === "read" && isKept(state, outcome.kept) ? state : undefined;
    const applies = state.revision === call.expected && (call.kind === "put" || call.expected !== 0);
    if (outcome.kind === "refused") return !applies && (outcome.current === undefined || isKept(state, outcome.current.kept)) ? state : undefined;
    if (!applies) return undefined;
    const revision = (outcome.kind === "committed" ? outcome.revision : undefined) ?? (call.kind === "put" ? this.#revisions.get(call.value) : undefined);
    if (revision !== undefined && revision <= state.newest) return undefined;
    const newest = revision ?? state.newest;
    return call.kind === "put" ? { revision: revision ?? -1 - index, value: call.value, newest } : { revision: 0, value: "", newest };
  }
}

function isKept(state: State, kept: Kept | undefined): boolean {
  return kept === undefined ? state.revision === 0 : state.revision === kept.revision && state.value === kept.value;
}

/** The revision of each value, as far as anybody saw it: that is how a write without an answer shows what it got. */
function revisionsOfValues({ operations, listings, watchings }: History): Map<string, number> {
  const seen = new Map<string, number>();
  const note = (kept: Kept | undefined) => kept && seen.set(kept.value, kept.revision);
  for (const { outcome } of operations) note(outcome.kind === "read" ? outcome.kept : outcome.kind === "refused" ? outcome.current?.kept : undefined);
  for (const { items } of listings) for (const kept of items.values()) note(kept);
  for (const { changes } of watchings) for (const change of changes) if (change.kind === "put") note(change);
  return seen;
}
