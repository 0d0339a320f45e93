/**
 * Whether lists and watches fit the writes: all that anybody saw of each revision has to be one and the same sequence of changes, a list is
 * what that sequence had made at the list's revision, and a watch shows each of its changes once and in order. Revisions follow the clock:
 * what was called after something was answered is newer.
 */
import { describeOperation } from "./history.ts";
import type { Change, History, Kept, Listing, Watching } from "./history.ts";

/** Says what does not fit; undefined when everything does. */
export function checkLog(history: History): string | undefined {
  try {
    const log = new ChangeLog(history);
    log.checkWrites();
    for (const listing of history.listings) log.checkListing(listing);
    for (const watching of history.watchings) log.checkWatching(watching);
    checkClock(history);
    return undefined;
  } catch (error) {
    if (error instanceof Misfit) return error.message;
    throw error;
  }
}

class Misfit extends Error {}

/** A deletion's own value is known only where a watch showed it. */
type LoggedChange = Omit<Change, "value"> & { readonly value: string | undefined };

class ChangeLog {
  readonly #history: History;
  readonly #changes = new Map<number, LoggedChange>();
  readonly #byKey: ReadonlyMap<string, readonly LoggedChange[]>;
  /** `key revision` of states that a deletion without an answer may have ended. */
  readonly #perhapsDeleted = new Set<string>();

  constructor(history: History) {
    this.#history = history;
    for (const { key, call, outcome } of history.operations) {
      if (outcome.kind === "read") this.#see(key, outcome.kept);
      if (outcome.kind === "refused") this.#see(key, outcome.current?.kept);
      if (call.kind === "delete" && (outcome.kind === "unknown" || (outcome.kind === "committed" && outcome.revision === undefined)))
        this.#perhapsDeleted.add(`${key} ${call.expected}`);
      if (outcome.kind !== "committed" || outcome.revision === undefined || call.kind === "get") continue;
      this.#add({ kind: call.kind, key, value: call.kind === "put" ? call.value : undefined, revision: outcome.revision });
    }
    for (const { items } of history.listings) for (const [key, kept] of items) this.#see(key, kept);
    for (const { changes } of history.watchings) for (const change of changes) this.#add(change);
    this.#byKey = Map.groupBy(
      [...this.#changes.values()].sort((a, b) => a.revision - b.revision),
      ({ key }) => key,
    );
  }

  #see(key: string, kept: Kept | undefined): void {
    if (kept !== undefined) this.#add({ kind: "put", key, ...kept });
  }

  #add(change: LoggedChange): void {
    const known = this.#changes.get(change.revision);
    const isSame =
      known === undefined ||
      (known.kind === change.kind && known.key === change.key && (known.value === undefined || change.value === undefined || known.value === change.value));
    if (!isSame) throw new Misfit(`revision ${change.revision} is both ${JSON.stringify(known)} and ${JSON.stringify(change)}`);
    if (known?.value === undefined) this.#changes.set(change.revision, change);
  }

  /** Each value was written once, by who asked for it, onto the state that was expected; a deletion shows what it deleted. */
  checkWrites(): void {
    const expectations = new Map(this.#history.operations.flatMap(({ call }) => (call.kind === "put" ? [[call.value, call.expected] as const] : [])));
    for (const changes of this.#byKey.values()) {
      const values = new Set<string>();
      for (const [index, change] of changes.entries()) {
        const before = changes[index - 1];
        if (change.kind === "delete") {
          if (before?.kind !== "put" || (change.value !== undefined && change.value !== before.value))
            throw new Misfit(`${JSON.stringify(change)} deletes ${JSON.stringify(before)}`);
          continue;
        }
        const expected = expectations.get(change.value!);
        if (expected === undefined || values.has(change.value!))
          throw new Misfit(`${JSON.stringify(change)} was written ${expected === undefined ? "by nobody" : "twice"}`);
        values.add(change.value!);
        if (!this.#isStateAt(before, expected)) throw new Misfit(`${JSON.stringify(change)}, made for ${expected}, came onto ${JSON.stringify(before)}`);
      }
    }
  }

  #isStateAt(change: LoggedChange | undefined, expected: number): boolean {
    if (expected === 0) return change === undefined || change.kind === "delete" || this.#isPerhapsDeleted(change);
    return change?.kind === "put" && change.revision === expected;
  }

  #isPerhapsDeleted({ key, revision }: LoggedChange): boolean {
    return this.#perhapsDeleted.has(`${key} ${revision}`);
  }

  checkListing({ revision, items }: Listing): void {
    for (const [key, changes] of this.#byKey) {
      const last = changes.findLast((change) => change.revision <= revision);
      const kept = items.get(key);
      const isRight =
        kept === undefined
          ? last === undefined || last.kind === "delete" || this.#isPerhapsDeleted(last)
          : last?.kind === "put" && last.revision === kept.revision;
      if (!isRight) throw new Misfit(`a list at ${revision} has ${JSON.stringify(kept)} under ${key}, after ${JSON.stringify(last)}`);
    }
  }

  checkWatching({ after, changes, reached }: Watching): void {
    let seen = after;
    for (const change of changes) {
      if (change.revision <= seen) throw new Misfit(`a watch shows ${JSON.stringify(change)} after ${seen}`);
      seen = change.revision;
    }
    const shown = new Set(changes.map(({ revision }) => revision));
    for (const change of this.#changes.values()) {
      if (change.revision > after && change.revision <= reached && !shown.has(change.revision))
        throw new Misfit(`a watch from ${after} to ${reached} leaves out ${JSON.stringify(change)}`);
    }
  }
}

/** Writes and lists that one after another were answered and called have growing revisions. */
function checkClock({ operations, listings }: History): void {
  const writes = operations.flatMap((operation) =>
    operation.outcome.kind === "committed" && operation.outcome.revision !== undefined
      ? [{ ...operation, revision: operation.outcome.revision, what: describeOperation(operation), isWrite: true }]
      : [],
  );
  const reads = listings.map((listing) => ({ ...listing, what: `a list at ${listing.revision}`, isWrite: false }));
  const all = [...writes, ...reads];
  const answers = all.toSorted((a, b) => a.returnedAt - b.returnedAt);
  let newest = 0;
  let answered = 0;
  for (const called of all.toSorted((a, b) => a.invokedAt - b.invokedAt)) {
    while (answered < answers.length && answers[answered]!.returnedAt < called.invokedAt) newest = Math.max(newest, answers[answered++]!.revision);
    if (called.revision < newest || (called.isWrite && called.revision === newest)) throw new Misfit(`${called.what} was called after ${newest} had been seen`);
  }
}
