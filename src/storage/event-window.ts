import type { StoreEvent } from "./store.ts";
import type { Version } from "./version.ts";

/**
 * The newest committed events, oldest first, one for each revision: the event of revision r is at `r - first`. Bounded by count and
 * bytes; what leaves is handed to `onForget`. Invariant: `last` is the newest committed revision, `first - 1` the newest forgotten one.
 */
export class EventWindow {
  #entries: WindowEntry[] = [];
  /** Entries before this index are forgotten and wait to be cut off. */
  #head = 0;
  #forgotten: number;
  #bytes = 0;
  readonly #limits: WindowLimits;
  readonly #onForget: (version: Version) => void;

  constructor(revision: number, limits: WindowLimits, onForget: (version: Version) => void) {
    this.#forgotten = revision;
    this.#limits = limits;
    this.#onForget = onForget;
  }

  /** The newest committed revision. */
  get last(): number {
    return this.#forgotten + this.#entries.length - this.#head;
  }

  /** The newest revision whose event is forgotten; the state as of it can still be read. */
  get forgotten(): number {
    return this.#forgotten;
  }

  push(event: StoreEvent, version: Version): void {
    this.#entries.push({ event, version });
    this.#bytes += entryBytes(event);
  }

  /** Forgets what exceeds the limits. */
  trim(): void {
    while (this.#entries.length - this.#head > this.#limits.maxEvents || this.#bytes > this.#limits.maxBytes) this.#forgetOne();
    this.#cut();
  }

  /** Forgets every event up to `revision`. */
  forget(revision: number): void {
    while (this.#forgotten < revision && this.#head < this.#entries.length) this.#forgetOne();
    this.#cut();
  }

  /** Up to `limit` events after revision `after` that `prefix` covers, and the revision looked at last. */
  read(prefix: string, after: number, limit: number): { events: StoreEvent[]; revision: number } {
    const events: StoreEvent[] = [];
    const start = this.#head + after - this.#forgotten;
    let at = start;
    for (; at < this.#entries.length && events.length < limit; at++) {
      const { event } = this.#entries[at]!;
      if (event.key.startsWith(prefix)) events.push(event);
    }
    return { events, revision: after + at - start };
  }

  #forgetOne(): void {
    const { event, version } = this.#entries[this.#head]!;
    this.#entries[this.#head++] = forgottenEntry;
    this.#forgotten++;
    this.#bytes -= entryBytes(event);
    this.#onForget(version);
  }

  #cut(): void {
    if (this.#head < 1024 || this.#head < this.#entries.length >> 1) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}

export interface WindowLimits {
  readonly maxEvents: number;
  /** Bound on the values of the kept events, in bytes. */
  readonly maxBytes: number;
}

type WindowEntry = { readonly event: StoreEvent; readonly version: Version };

// Replaces entries that wait to be cut off, so that they hold nothing in memory.
const forgottenVersion: Version = {
  key: "",
  value: undefined,
  valueBytes: 0,
  createRevision: 0,
  modRevision: 0,
  isDeleted: true,
  expiresAtMs: 0,
  previous: undefined,
};
const forgottenEntry: WindowEntry = {
  event: { kind: "delete", key: "", value: new Uint8Array(0), revision: 0, createRevision: 0 },
  version: forgottenVersion,
};

/** What an event costs: its value, its key, and about 200 bytes of objects. */
function entryBytes(event: StoreEvent): number {
  return event.value.length + event.key.length + 200;
}
