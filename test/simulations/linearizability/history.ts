/**
 * What clients saw of a store of keys while they used it side by side. Times are counts of calls and answers in the order in which they
 * happened, which one process knows exactly. Every value is written once, so that a value tells which write it came from.
 */

/** What a key holds: a value, and the revision that wrote it. */
export interface Kept {
  readonly value: string;
  readonly revision: number;
}

export type Call =
  /** `expected`: the revision that has to be current; 0: the key has to be absent. */
  | { readonly kind: "put"; readonly value: string; readonly expected: number }
  | { readonly kind: "delete"; readonly expected: number }
  | { readonly kind: "get" };

export type Outcome =
  /** `revision` is undefined where the store does not say it (an API server's answer to a deletion). */
  | { readonly kind: "committed"; readonly revision: number | undefined }
  /** `current` is absent where the store does not say what it found. */
  | { readonly kind: "refused"; readonly current?: { readonly kept: Kept | undefined } }
  | { readonly kind: "read"; readonly kept: Kept | undefined }
  /** The call failed: a write may have happened, or may happen yet. */
  | { readonly kind: "unknown" };

export interface Operation {
  readonly key: string;
  readonly call: Call;
  readonly invokedAt: number;
  /** Infinity for unknown outcomes. */
  readonly returnedAt: number;
  readonly outcome: Outcome;
}

export interface Listing {
  readonly invokedAt: number;
  readonly returnedAt: number;
  readonly revision: number;
  readonly items: ReadonlyMap<string, Kept>;
}

export interface Change {
  readonly kind: "put" | "delete";
  readonly key: string;
  /** Of a deletion: the value before it. */
  readonly value: string;
  readonly revision: number;
}

/** What one watch showed between two revisions. */
export interface Watching {
  readonly after: number;
  readonly changes: Change[];
  reached: number;
}

export class History {
  readonly operations: Operation[] = [];
  readonly listings: Listing[] = [];
  readonly watchings: Watching[] = [];
  /** The last write's revision, when some watch did not come so far. */
  unseen: number | undefined;
  #time = 0;

  /** The next moment. */
  tick(): number {
    return ++this.#time;
  }

  /** Revisions of the acknowledged writes. */
  get newestRevision(): number {
    return this.operations.reduce((newest, { outcome }) => (outcome.kind === "committed" ? Math.max(newest, outcome.revision ?? 0) : newest), 0);
  }
}

export function describeOperation({ key, call, outcome, invokedAt, returnedAt }: Operation): string {
  const asked = call.kind === "get" ? "get" : call.kind === "delete" ? `delete at ${call.expected}` : `put ${call.value} at ${call.expected}`;
  return `${asked} of ${key} (${invokedAt}–${returnedAt}): ${JSON.stringify(outcome)}`;
}
