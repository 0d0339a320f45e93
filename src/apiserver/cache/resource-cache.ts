/**
 * All objects of one resource in memory: a sorted map of the newest state, and a bounded window of events, each with what it replaced. From
 * these come consistent lists, pages at a fixed revision, and watches that resume.
 *
 * Driven by the Cacher, which feeds it the store's events in order. Invariants: `state` is the map after the last applied event;
 * events in the window have growing revisions; `windowStart` is the newest revision that the window no longer covers.
 */
import { SortedMapWriter } from "../../base/sorted-map.ts";
import type { SortedMap } from "../../base/sorted-map.ts";
import { StoredObject } from "./stored-object.ts";
import type { BytesNotes, ParsedPool } from "./stored-object.ts";
import { isUnreadable } from "./unreadable-value.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

export interface CacheEvent {
  readonly type: EventType;
  readonly revision: number;
  /** The new state; for DELETED the last one, under the deletion's revision. */
  readonly object: StoredObject;
  /** The state before, when there was one. */
  readonly previous: StoredObject | undefined;
  /** Encoded watch frames by form, made once for all watchers, when the first one needs them. */
  frames: Map<string, Buffer> | undefined;
}

/** Newest events whose frames are kept. */
const framedEvents = 256;

/** What a change replaced. There is one for each event, and for changes that no event tells of. */
interface Replaced {
  readonly revision: number;
  readonly key: string;
  readonly object: StoredObject | undefined;
}

/** Earlier states that are kept once somebody has asked for them: pages of a list are of one revision. */
const keptStates = 8;

export type EventListener = (event: CacheEvent) => void;

export class ResourceCache {
  readonly prefix: string;
  readonly #pool: ParsedPool;
  readonly #windowLimit: number;
  #map = new SortedMapWriter<StoredObject>();
  #window: CacheEvent[] = [];
  #replaced: Replaced[] = [];
  #windowStart = 0;
  /** By revision, the one asked for last at the end. */
  readonly #earlierStates = new Map<number, SortedMap<StoredObject>>();
  readonly #expected = new Map<Buffer, BytesNotes>();
  readonly #listeners = new Set<EventListener>();
  readonly #loadListeners = new Set<() => void>();
  readonly #unreadableKeys = new Set<string>();
  #loadCount = 0;

  constructor(prefix: string, options: { pool: ParsedPool; windowLimit: number }) {
    this.prefix = prefix;
    this.#pool = options.pool;
    this.#windowLimit = options.windowLimit;
  }

  get state(): SortedMap<StoredObject> {
    return this.#map.snapshot();
  }

  /** Keys whose values could not be opened: they are in the map, and no events tell of them. */
  get unreadableKeys(): ReadonlySet<string> {
    return this.#unreadableKeys;
  }

  /** How often the content was set as a whole, without events. */
  get loadCount(): number {
    return this.#loadCount;
  }

  get(key: string): StoredObject | undefined {
    return this.#map.get(key);
  }

  parse(stored: StoredObject): KubeObject {
    return this.#pool.parse(stored);
  }

  /** Keeps what is known of bytes that are being written, for the object that they become. Returns what ends that. */
  expect(bytes: Buffer, notes: BytesNotes): () => void {
    this.#expected.set(bytes, notes);
    return () => this.#expected.delete(bytes);
  }

  /** Sets the first content, as of `revision`. */
  load(objects: Iterable<StoredObject>, revision: number): void {
    this.#map = new SortedMapWriter();
    this.#unreadableKeys.clear();
    for (const object of objects) {
      this.#map.set(object.key, object);
      if (isUnreadable(object.bytes)) this.#unreadableKeys.add(object.key);
    }
    // What came in while the content was read stays.
    const later = this.#window.filter((event) => event.revision > revision);
    this.#window = [];
    this.#replaced = [];
    this.#earlierStates.clear();
    this.#windowStart = revision;
    for (const { type, object } of later) this.#append(object.key, type === "DELETED" ? undefined : object.bytes, object.revision, object.createRevision);
    this.#loadCount++;
    for (const listener of this.#loadListeners) listener();
  }

  /** Applies one event of the store; `bytes` is undefined for a deletion. */
  apply(key: string, bytes: Buffer | undefined, revision: number, createRevision: number): CacheEvent | undefined {
    const event = this.#append(key, bytes, revision, createRevision);
    if (event !== undefined) for (const listener of this.#listeners) listener(event);
    return event;
  }

  #append(key: string, bytes: Buffer | undefined, revision: number, createRevision: number): CacheEvent | undefined {
    const stored = this.#map.get(key);
    if (bytes === undefined && stored === undefined) return undefined;
    const object = bytes === undefined ? stored!.at(revision) : new StoredObject(key, bytes, revision, createRevision);
    if (bytes !== undefined) object.notes = this.#expected.get(bytes);
    if (bytes === undefined) this.#map.delete(key);
    else this.#map.set(key, object);
    this.#replaced.push({ revision, key, object: stored });
    if (this.#replaced.length > this.#windowLimit) this.#trim(this.#replaced.length - (this.#windowLimit >> 1));
    const wasUnreadable = this.#unreadableKeys.delete(key);
    if (isUnreadable(object.bytes)) {
      if (bytes !== undefined) this.#unreadableKeys.add(key);
      return undefined;
    }
    const previous = wasUnreadable ? undefined : stored;
    const type = bytes === undefined ? "DELETED" : previous === undefined ? "ADDED" : "MODIFIED";
    const event: CacheEvent = { type, revision, object, previous, frames: undefined };
    this.#window.push(event);
    // Watches that are further behind make frames of their own.
    const framed = this.#window[this.#window.length - framedEvents];
    if (framed !== undefined) framed.frames = undefined;
    return event;
  }

  /** Events after `revision`, or undefined when the window does not reach back so far. */
  eventsAfter(revision: number): readonly CacheEvent[] | undefined {
    if (revision < this.#windowStart) return undefined;
    return this.#window.slice(this.#firstAfter(revision));
  }

  /** Oldest revision that a watch may start from. */
  get oldestRevision(): number {
    return this.#windowStart;
  }

  /** The map as it was at `revision`, or undefined when that is no longer known. */
  stateAt(revision: number): SortedMap<StoredObject> | undefined {
    if (revision < this.#windowStart) return undefined;
    if (revision >= (this.#replaced.at(-1)?.revision ?? 0)) return this.state;
    const state = this.#earlierStates.get(revision) ?? this.#stateBefore(revision);
    this.#earlierStates.delete(revision);
    this.#earlierStates.set(revision, state);
    if (this.#earlierStates.size > keptStates) this.#earlierStates.delete(this.#earlierStates.keys().next().value!);
    return state;
  }

  /** The newest state, with all that came after `revision` taken back. */
  #stateBefore(revision: number): SortedMap<StoredObject> {
    const map = new SortedMapWriter(this.state);
    for (let index = this.#replaced.length - 1; index >= 0 && this.#replaced[index]!.revision > revision; index--) {
      const { key, object } = this.#replaced[index]!;
      if (object === undefined) map.delete(key);
      else map.set(key, object);
    }
    return map.snapshot();
  }

  listen(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Hears when the content was set as a whole: there were changes that no event tells. */
  onLoad(listener: () => void): () => void {
    this.#loadListeners.add(listener);
    return () => this.#loadListeners.delete(listener);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.#window.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#window[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(count: number): void {
    this.#windowStart = this.#replaced[count - 1]!.revision;
    this.#replaced = this.#replaced.slice(count);
    this.#window = this.#window.slice(this.#firstAfter(this.#windowStart));
    for (const revision of this.#earlierStates.keys()) if (revision < this.#windowStart) this.#earlierStates.delete(revision);
  }
}
