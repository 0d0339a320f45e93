/**
 * Watches: the events of a collection as a stream of frames. Frames of plain JSON are made once per event and shared by all watchers;
 * what comes up in one turn of the loop is delivered as one chunk.
 */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { deadline } from "../../../base/clock.ts";
import { Pacer } from "../../../base/pacer.ts";
import type { SortedMap } from "../../../base/sorted-map.ts";
import type { CacheEvent, EventType, ResourceCache } from "../../cache/resource-cache.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import { prepareVersions } from "../../registry/versions/convert.ts";
import { UndecodableError } from "../../registry/storage/object-codec.ts";
import { toStatus } from "../../http/write-response.ts";
import type { Negotiated } from "../../http/negotiation.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { RequestContext } from "../../request-context.ts";
import { expiredError } from "../../../apimachinery/status.ts";
import { checkReadable, unreadableError } from "../reading/list.ts";
import { negotiateFrames } from "../respond.ts";
import { futureVersionError } from "../reading/versions.ts";
import { parseSelection } from "../reading/selection.ts";
import type { Selection } from "../reading/selection.ts";
import { FrameEncoder } from "./watch-frames.ts";
import { parseWatchOptions } from "./watch-options.ts";
import type { WatchOptions } from "./watch-options.ts";

export async function handleWatch(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFrames(context, [...(definition.table === undefined ? [] : ["Table" as const]), "PartialObjectMetadata", "PartialObjectMetadataList"]);
  const selection = parseSelection(context, definition);
  const options = parseWatchOptions(context);
  // There is no such thing as a list of changes: the answer ends before it begins.
  if (form.transform?.kind === "PartialObjectMetadataList")
    return { status: 200, headers: { "content-type": streamType(form) }, body: { kind: "bytes", bytes: new Uint8Array() } };
  await prepareState(definition, selection);
  const stream = new WatchStream(context, definition, { selection, options, form });
  return {
    status: 200,
    headers: { "content-type": streamType(form) },
    body: { kind: "stream", chunks: stream },
  };
}

/** What a watch may begin with has to be readable before it is answered. Throws 429. */
async function prepareState(definition: ResourceDefinition, selection: Selection): Promise<void> {
  if (definition.codec?.isConvertedByWebhook !== true && definition.storage!.cache.unreadableKeys.size === 0) return;
  try {
    checkReadable(definition, selection);
    await prepareVersions(definition, selection.candidates(definition.storage!.cache.state));
  } catch (error) {
    throw error instanceof UndecodableError ? unreadableError(definition, error) : error;
  }
}

function streamType(form: Negotiated): string {
  switch (form.mediaType) {
    case "application/json":
      return "application/json";
    case "application/vnd.kubernetes.protobuf":
      return "application/vnd.kubernetes.protobuf;stream=watch";
    case "application/cbor":
      return "application/cbor-seq";
    case "application/yaml":
      return "application/yaml";
  }
}

/** Frames a slow reader may leave behind before its watch is ended (it lists anew). */
const queueLimit = 10_000;
/** Size of the pieces in which the first state is sent. */
const pieceBytes = 64 * 1024;

/**
 * One watch. The listener appends frames to `#pending`; the consumer takes all of them at once. Ends when the client leaves, the time is
 * over, the server shuts down, the resource goes, the cache had to be read anew, or the reader is too slow.
 */
class WatchStream implements AsyncIterable<Uint8Array> {
  readonly #context: RequestContext;
  readonly #definition: ResourceDefinition;
  /** Whether a webhook converts what is sent, so that events are looked at only when they are taken. */
  readonly #isConverted: boolean;
  readonly #selection: Selection;
  readonly #options: WatchOptions;
  readonly #encoder: FrameEncoder;
  readonly #cache: ResourceCache;
  readonly #lifetime: AbortSignal | undefined;
  readonly #events: { value: number };
  readonly #began: (() => void) | undefined;
  /** Frames, and events whose frames are yet to be made: those are shared with other watches. */
  #pending: (Buffer | CacheEvent)[] = [];
  #initial: { readonly state: SortedMap<StoredObject>; readonly bookmarkRevision: number | undefined } | undefined;
  #wake: (() => void) | undefined;
  #isEnded = false;

  constructor(context: RequestContext, definition: ResourceDefinition, watch: { selection: Selection; options: WatchOptions; form: Negotiated }) {
    this.#context = context;
    this.#definition = definition;
    this.#isConverted = definition.codec?.isConvertedByWebhook === true;
    this.#selection = watch.selection;
    this.#options = watch.options;
    this.#encoder = new FrameEncoder(context, definition, watch.form);
    this.#cache = definition.storage!.cache;
    this.#events = context.server.metrics
      .counter("apiserver_watch_events_total", "Events sent to watches.", ["group", "resource", "version"])
      .series(definition.group, definition.resource, definition.version);
    this.#lifetime = definition.lifetime;
    this.#began = context.watchBegan;
    context.watchBegan = undefined;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const { server, signal } = this.#context;
    const limit = deadline(server.clock, this.#options.timeoutMs, signal, server.shutdown, ...(this.#lifetime === undefined ? [] : [this.#lifetime]));
    const stop = () => this.#end();
    limit.signal.addEventListener("abort", stop, { once: true });
    const uncount = server.watchCounts.add(this.#context.info, this.#context.query.get("fieldSelector"));
    const unlisten = this.#start();
    // Its client goes on from the last event, and learns that it has to list anew.
    const unlistenLoads = this.#cache.onLoad(stop);
    let cancelBookmark = this.#scheduleBookmark();
    const reschedule = () => {
      cancelBookmark();
      cancelBookmark = this.#scheduleBookmark();
    };
    this.#onBookmark = reschedule;
    try {
      yield* this.#initialPieces();
      this.#began?.();
      for (;;) {
        if (this.#pending.length > 0) {
          const piece = this.#isConverted ? await this.#takeConverted() : this.#take();
          if (piece === undefined) return;
          if (piece.length > 0) yield piece;
          continue;
        }
        if (this.#isEnded || limit.signal.aborted) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      unlisten();
      unlistenLoads();
      uncount();
      this.#began?.();
      cancelBookmark();
      limit.cancel();
      limit.signal.removeEventListener("abort", stop);
      this.#context.streamEnded?.();
    }
  }

  /** The state that the watch begins with, in pieces; what happens meanwhile waits behind it. */
  async *#initialPieces(): AsyncGenerator<Buffer> {
    if (this.#initial === undefined) return;
    const { state, bookmarkRevision } = this.#initial;
    this.#initial = undefined;
    if (this.#isConverted && !(await this.#isReadable(this.#selection.candidates(state)))) return this.#end();
    const pacer = new Pacer(this.#context.server.clock);
    let frames: Buffer[] = [];
    let bytes = 0;
    for (const [, stored] of state.prefixed(this.#selection.keyPrefix)) {
      if (this.#isEnded) return;
      if (this.#selection.matches(stored)) bytes += frames[frames.push(this.#encoder.object("ADDED", stored)) - 1]!.length;
      if (pacer.isDue()) await pacer.turn();
      if (bytes < pieceBytes) continue;
      this.#events.value += frames.length;
      yield Buffer.concat(frames);
      frames = [];
      bytes = 0;
    }
    if (bookmarkRevision !== undefined) frames.push(this.#encoder.bookmark(bookmarkRevision, true));
    this.#events.value += frames.length;
    if (frames.length > 0) yield Buffer.concat(frames);
  }

  /** Everything that waits, as one piece. */
  #take(): Buffer {
    const pending = this.#pending;
    this.#pending = [];
    if (pending.every(isEvent)) return this.#encoder.events(pending, this.#selection.keyPrefix);
    if (pending.length === 1) return pending[0] as Buffer;
    return Buffer.concat(pending.map((item) => (isEvent(item) ? this.#encoder.event(item) : item)));
  }

  /** As `#take`, of what a webhook has converted; undefined when it could not, which ends the watch. */
  async #takeConverted(): Promise<Buffer | undefined> {
    const pending = this.#pending;
    this.#pending = [];
    const stored = pending.flatMap((item) =>
      isEvent(item) ? [item.object, ...(this.#selection.isEverything || item.previous === undefined ? [] : [item.previous])] : [],
    );
    if (!(await this.#isReadable(stored))) return undefined;
    const frames = pending.flatMap((item) => (isEvent(item) ? (this.#frame(item) ?? []) : [item]));
    this.#events.value += frames.length;
    return Buffer.concat(frames);
  }

  async #isReadable(stored: readonly StoredObject[]): Promise<boolean> {
    try {
      await prepareVersions(this.#definition, stored);
      return true;
    } catch (error) {
      if (error instanceof UndecodableError) return false;
      throw error;
    }
  }

  #onBookmark: () => void = () => {};

  /** Queues what the watch begins with and listens for what follows, without a gap between them. */
  #start(): () => void {
    const { revision, sendsInitial, asksInitial, mayBookmark } = this.#options;
    const current = this.#context.server.cacher.revision;
    if (sendsInitial && revision !== undefined && revision > current) {
      this.#push(this.#encoder.error(futureVersionError(revision, current).status));
      this.#end();
      return () => {};
    }
    if (sendsInitial || (revision === undefined && !asksInitial)) {
      this.#initial = { state: this.#cache.state, bookmarkRevision: sendsInitial && mayBookmark ? current : undefined };
    } else if (revision === undefined) {
      // No initial events were asked for: what follows is enough.
    } else if (revision > this.#context.server.cacher.revision) {
      // A version of the future: events up to it are not for this watch.
      return this.#cache.listen((event) => event.revision > revision && this.#deliver(event));
    } else {
      const missed = this.#cache.eventsAfter(revision);
      if (missed === undefined) {
        this.#push(this.#encoder.error(toStatus(expiredError(`too old resource version: ${revision} (${this.#cache.oldestRevision + 1})`))));
        this.#end();
        return () => {};
      }
      for (const event of missed) this.#deliver(event);
    }
    return this.#cache.listen((event) => this.#deliver(event));
  }

  #deliver(event: CacheEvent): void {
    if (!event.object.key.startsWith(this.#selection.keyPrefix)) return;
    if (this.#isConverted || this.#selection.isEverything) return this.#push(event);
    const frame = this.#frame(event);
    if (frame !== undefined) this.#push(frame);
  }

  /** An event as this watch sees it, if it does. */
  #frame(event: CacheEvent): Buffer | undefined {
    if (this.#selection.isEverything) return this.#encoder.event(event);
    const isNow = event.type !== "DELETED" && this.#selection.matches(event.object);
    const wasBefore = event.previous !== undefined && this.#selection.matches(event.previous);
    const type = transition(isNow, wasBefore);
    if (type === undefined) return undefined;
    if (type === event.type) return this.#encoder.event(event);
    return this.#encoder.object(type, type === "DELETED" ? event.previous!.at(event.revision) : event.object);
  }

  #scheduleBookmark(): () => void {
    if (!this.#options.mayBookmark) return () => {};
    return this.#context.server.bookmarks.next(() => {
      if (this.#isEnded) return;
      this.#push(this.#encoder.bookmark(this.#context.server.cacher.revision, false));
      this.#onBookmark();
    });
  }

  #push(frame: Buffer | CacheEvent): void {
    if (this.#isEnded) return;
    if (!this.#isConverted) this.#events.value += 1;
    this.#pending.push(frame);
    if (this.#pending.length > queueLimit && this.#wake === undefined) this.#end();
    this.#notify();
  }

  #end(): void {
    this.#isEnded = true;
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

function isEvent(item: Buffer | CacheEvent): item is CacheEvent {
  return !Buffer.isBuffer(item);
}

/** What a change means to a watch that selects: objects come into view and leave it. */
function transition(isNow: boolean, wasBefore: boolean): EventType | undefined {
  if (isNow) return wasBefore ? "MODIFIED" : "ADDED";
  return wasBefore ? "DELETED" : undefined;
}
