/**
 * One version of an object as the server holds it: the bytes that were stored (JSON without resourceVersion) and the revision that belongs
 * in them. Answers are made of slices of these bytes; the parsed form is made on demand and kept while it is in use (ParsedPool).
 */
import { goJson } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import { decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { isUnreadable, unreadableFault } from "./unreadable-value.ts";

const metadataMarker = Buffer.from('"metadata":{');
const uidMarker = Buffer.from('"uid":"');
/** The uid stands within this many bytes of the metadata's start: behind names of at most 253 bytes. */
const uidSearchBytes = 1024;
const quote = 0x22;
const closingBrace = 0x7d;
const lineFeed = 0x0a;

/** What is known of an object's bytes without parsing them: who wrote them had the object at hand. */
export interface BytesNotes {
  /** The schema in which the object is what `canonicalize` makes of it. */
  readonly canonicalIn?: StructSchema | undefined;
  /** Values of its selectable fields, by `group/version`. */
  fieldValues?: Map<string, Readonly<Record<string, string>>> | undefined;
}

export class StoredObject {
  /** Key below the resource's prefix. */
  readonly key: string;
  readonly bytes: Buffer;
  readonly revision: number;
  readonly createRevision: number;
  parsed: KubeObject | undefined;
  notes: BytesNotes | undefined;
  /** Protobuf messages by group and version, while they are kept (Encodings). */
  messages: Map<string, Uint8Array> | undefined;
  /** Where the metadata begin and where the version belongs, once somebody has looked: every answer with this object needs both. */
  #metadataAt = -1;
  #versionAt = -1;

  constructor(key: string, bytes: Buffer, revision: number, createRevision: number) {
    this.key = key;
    this.bytes = bytes;
    this.revision = revision;
    this.createRevision = createRevision;
  }

  /** The same content under another revision: what a deletion event shows. */
  at(revision: number): StoredObject {
    const same = new StoredObject(this.key, this.bytes, revision, this.createRevision);
    same.notes = this.notes;
    return same;
  }

  /** The version belongs behind the uid, or first into the metadata of an object without one. */
  #locate(): void {
    if (isUnreadable(this.bytes)) throw unreadableFault(this.bytes);
    this.#metadataAt = this.bytes.indexOf(metadataMarker);
    const start = this.#metadataAt + metadataMarker.length;
    const uid = this.bytes.indexOf(uidMarker, start);
    this.#versionAt = uid >= 0 && uid < start + uidSearchBytes && this.#isFlat(start, uid) ? this.bytes.indexOf(quote, uid + uidMarker.length) + 1 : start;
  }

  /** Whether no object begins or ends between two positions: a uid behind such a place is somebody else's (of an owner, a label). */
  #isFlat(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (this.bytes[at] === openBrace || this.bytes[at] === closingBrace) return false;
    return true;
  }

  /** The member that is spliced in at `#versionAt`. */
  #versionText(): string {
    if (this.#versionAt < 0) this.#locate();
    const version = `"resourceVersion":"${this.revision}"`;
    if (this.#versionAt > this.#metadataAt + metadataMarker.length) return `,${version}`;
    return this.bytes[this.#versionAt] === closingBrace ? version : `${version},`;
  }

  /** The whole object as JSON. */
  toJson(): Buffer {
    return this.#spliced(0);
  }

  /** The whole object as JSON with a line feed behind it, as answers end. */
  toJsonLine(): Buffer {
    const out = this.#spliced(1);
    out[out.length - 1] = lineFeed;
    return out;
  }

  /** The object with its version in it; behind it room for `extra` bytes. */
  #spliced(extra: number): Buffer {
    const text = this.#versionText();
    const offset = this.#versionAt;
    const out = Buffer.allocUnsafe(this.bytes.length + text.length + extra);
    this.bytes.copy(out, 0, 0, offset);
    out.write(text, offset, "latin1");
    this.bytes.copy(out, offset + text.length, offset);
    return out;
  }

  /** More bytes than the object needs as a list item. */
  get itemBytesAtMost(): number {
    return this.bytes.length + versionBytesAtMost;
  }

  /** Writes the object as a list item, without kind and apiVersion when `isBare` (built-in kinds), and returns the position behind it. */
  writeItem(target: Buffer, position: number, isBare: boolean): number {
    const text = this.#versionText();
    let at = position;
    if (isBare) target[at++] = openBrace;
    at += this.bytes.copy(target, at, isBare ? this.#metadataAt : 0, this.#versionAt);
    at += target.write(text, at, "latin1");
    return at + this.bytes.copy(target, at, this.#versionAt);
  }
}

const openBrace = 0x7b;
const versionBytesAtMost = '{,"resourceVersion":""'.length + 20;

/**
 * Bytes as stored: kind and apiVersion first, then metadata, no resourceVersion (the revision belongs there and is spliced in).
 */
export function encodeStored(object: KubeObject): Buffer {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { resourceVersion: _, ...storedMetadata } = metadata;
  return Buffer.from(goJson({ kind, apiVersion, metadata: storedMetadata, ...rest }));
}

/** What may be a number that plain JSON.parse would change: more than 15 digits, a fraction, an exponent. Not what only looks so within words. */
const fragileNumber = /(?:":|[,[])\s*-?(?:\d{16}|\d+[.eE])/;

/** Parses stored bytes with the resourceVersion in them. Throws UndecodableError for a value that could not be opened. */
export function parseStored(stored: StoredObject): KubeObject {
  if (isUnreadable(stored.bytes)) throw unreadableFault(stored.bytes);
  const bytes = stored.toJson();
  const text = bytes.toString();
  const object = (fragileNumber.test(text) ? decodeUntyped(bytes, { mediaType: "json" }).value : JSON.parse(text)) as JsonObject;
  const schema = stored.notes?.canonicalIn;
  // (Hidden, so that copies do not have it. A weak map with an entry for each object would be a burden to the collector.)
  if (schema !== undefined) Object.defineProperty(object, canonicalIn, { value: schema });
  return object as unknown as KubeObject;
}

const canonicalIn = Symbol("canonicalIn");

/** Whether a parsed object is known to be what `canonicalize` would make of it. */
export function isCanonical(object: object, schema: StructSchema): boolean {
  return (object as { [canonicalIn]?: StructSchema })[canonicalIn] === schema;
}

/** Keeps at most `limit` parsed objects; the oldest parsed one loses its parsed form first. */
export class ParsedPool {
  readonly #limit: number;
  /** Grows to the limit, then the oldest entry is overwritten. */
  readonly #ring: StoredObject[] = [];
  #next = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The parsed object. Callers must not change it. */
  parse(stored: StoredObject): KubeObject {
    if (stored.parsed !== undefined) return stored.parsed;
    stored.parsed = parseStored(stored);
    const evicted = this.#ring[this.#next];
    if (evicted !== undefined) evicted.parsed = undefined;
    this.#ring[this.#next] = stored;
    this.#next = (this.#next + 1) % this.#limit;
    return stored.parsed;
  }
}
