/**
 * Custom resources between their JSON and what the registry works with: pruned by their version's schema, with defaults, their metadata in
 * canonical form. Stored objects may be older than the schema, so that they are looked through once before their bytes are served.
 */
import { invariant } from "../../base/invariant.ts";
import { DecodeError } from "../../apimachinery/decode/decode-object.ts";
import { deepCopy, isObject, isRawNumber, rawNumber } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue, RawNumber } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { OtherVersion, OtherVersions } from "../../apimachinery/managed-fields/versions.ts";
import type { GroupVersionKind, KubeObject } from "../../apimachinery/object.ts";
import { applyDefaults, dropNulls } from "../../apimachinery/structural/defaults.ts";
import { isComplete } from "../../apimachinery/structural/is-complete.ts";
import { prune } from "../../apimachinery/structural/prune.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { StatusError } from "../../apimachinery/status.ts";
import { UndecodableError } from "../registry/storage/object-codec.ts";
import type { ObjectCodec } from "../registry/storage/object-codec.ts";
import { StepConversions } from "./conversion/step-conversions.ts";
import { ConversionError } from "./conversion/webhook-converter.ts";
import type { VersionConverter } from "./conversion/webhook-converter.ts";
import { normalizeEmbedded } from "./embedded-resources.ts";
import { decodeMetadata, printMetadata } from "./object-metadata.ts";
import type { VersionSchema } from "./version-schema.ts";

export interface CodecOptions {
  readonly gvk: GroupVersionKind;
  /** Version that objects are stored in. */
  readonly storedVersion: string;
  /** Where objects are stored, below the root of all keys, such as `/example.com/widgets/`. */
  readonly storagePath: string;
  /** Of every version of the definition, by name. */
  readonly schemas: ReadonlyMap<string, VersionSchema>;
  /** Conversion strategy Webhook; absent: None. */
  readonly convert?: VersionConverter | undefined;
}

/** Objects that are converted by one call. */
const batch = { objects: 500, bytes: 2 * 1024 * 1024 };

export class CustomResourceCodec implements ObjectCodec {
  readonly #options: CodecOptions;
  readonly #apiVersion: string;
  /** What a stored object looks like in this version, by its bytes, which it shares with its deletion; itself when they can be served. */
  readonly #read = new WeakMap<Uint8Array, KubeObject | "as stored">();
  /** Objects that a webhook is converting. */
  readonly #converting = new WeakMap<Uint8Array, Promise<void>>();

  constructor(options: CodecOptions) {
    this.#options = options;
    this.#apiVersion = apiVersionOf(options.gvk.group, options.gvk.version);
  }

  get isConvertedByWebhook(): boolean {
    return this.#options.convert !== undefined;
  }

  withOtherVersions<T>(step: (versions: OtherVersions) => T): Promise<T> {
    const conversions = new StepConversions((object, version) => this.convert(object as unknown as KubeObject, version) as Promise<JsonObject>);
    const convert = this.isConvertedByWebhook
      ? conversions.get
      : (object: JsonObject, version: string) => this.#relabelled(object as unknown as KubeObject, version) as unknown as JsonObject;
    return conversions.run(() => step((apiVersion) => this.#otherVersion(apiVersion, convert)));
  }

  #otherVersion(apiVersion: string, convert: (object: JsonObject, version: string) => JsonObject): OtherVersion | undefined {
    const { gvk, schemas } = this.#options;
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const schema = apiVersion === apiVersionOf(gvk.group, version) ? schemas.get(version) : undefined;
    return schema && { schema: schema.typed, convert: (object) => convert(object, version), convertBack: (object) => convert(object, gvk.version) };
  }

  decode(value: JsonObject): { object: KubeObject; faults: string[] } {
    const { object, unknown } = admit(normalizeNumbers(value) as JsonObject, this.#options.schemas.get(this.#options.gvk.version)!);
    return { object, faults: unknown.map((path) => `unknown field ${JSON.stringify(path)}`) };
  }

  adopt(value: JsonObject): KubeObject {
    const { metadata } = value;
    const object = normalizeNumbers(value) as unknown as KubeObject;
    object.metadata = metadata === undefined || metadata === null ? {} : decodeMetadata(metadata).metadata;
    return object;
  }

  print(object: KubeObject): JsonObject {
    const { kind, apiVersion, metadata, ...rest } = object;
    return { ...(kind !== undefined && { kind }), ...(apiVersion !== undefined && { apiVersion }), metadata: printMetadata(metadata), ...rest } as JsonObject;
  }

  read(stored: StoredObject, object: KubeObject): KubeObject {
    const known = this.#read.get(stored.bytes);
    if (known !== undefined) return known === "as stored" ? object : atVersion(known, object.metadata.resourceVersion);
    const read = this.#fromStored(stored, object);
    this.#read.set(stored.bytes, read === object ? "as stored" : read);
    return read;
  }

  isServedAsStored(stored: StoredObject, parse: () => KubeObject): boolean {
    if (!this.#read.has(stored.bytes)) this.read(stored, parse());
    return this.#read.get(stored.bytes) === "as stored";
  }

  noteWritten(bytes: Uint8Array, object: KubeObject): void {
    const { gvk, storedVersion, schemas } = this.#options;
    if (gvk.version === storedVersion && isSurelyComplete(object, schemas.get(storedVersion)!)) this.#read.set(bytes, "as stored");
  }

  async toStored(object: KubeObject): Promise<KubeObject> {
    const { gvk, storedVersion } = this.#options;
    return storedVersion === gvk.version ? object : this.convert(object, storedVersion);
  }

  async convert(object: KubeObject, version: string): Promise<KubeObject> {
    const { convert, gvk } = this.#options;
    if (convert === undefined) return this.#relabelled(object, version);
    const { resourceVersion } = object.metadata;
    const [converted] = await convert([withoutVersion(this.print(object))], apiVersionOf(gvk.group, version)).catch((error: unknown) => {
      throw error instanceof ConversionError ? new StatusError({ message: error.message, code: 500 }, error) : error;
    });
    return this.#received(converted!, version, resourceVersion);
  }

  async prepare(stored: readonly StoredObject[], parse: (stored: StoredObject) => KubeObject): Promise<void> {
    if (!this.isConvertedByWebhook) return;
    const missing = stored.filter((one) => !this.#read.has(one.bytes));
    for (const some of batches(
      missing.filter((one) => !this.#converting.has(one.bytes)),
      batch,
    )) {
      const work = this.#convertStored(some, parse).finally(() => some.forEach((one) => this.#converting.delete(one.bytes)));
      for (const one of some) this.#converting.set(one.bytes, work);
      await work;
    }
    // Others may have asked for the same objects before us.
    for (const one of missing) await this.#converting.get(one.bytes);
  }

  async #convertStored(stored: readonly StoredObject[], parse: (stored: StoredObject) => KubeObject): Promise<void> {
    const toConvert: { readonly stored: StoredObject; readonly json: JsonObject }[] = [];
    for (const one of stored) {
      const object = parse(one);
      const complete = this.#completed(one, object);
      if (object.apiVersion === this.#apiVersion) this.#read.set(one.bytes, complete === object ? "as stored" : complete);
      else toConvert.push({ stored: one, json: withoutVersion(this.print(complete)) });
    }
    for (const versions of Map.groupBy(toConvert, ({ json }) => json["apiVersion"]).values()) {
      const converted = await this.#options.convert!(
        versions.map(({ json }) => json),
        this.#apiVersion,
      ).catch((error: unknown) => {
        if (!(error instanceof ConversionError)) throw error;
        throw this.#undecodable(versions[error.index]!.stored, error.message);
      });
      for (const [index, { stored: one }] of versions.entries())
        this.#read.set(one.bytes, this.#received(converted[index]!, this.#options.gvk.version, String(one.revision)));
    }
  }

  /** What a webhook made of an object, as the schema wants it. */
  #received(json: JsonObject, version: string, resourceVersion: string | undefined): KubeObject {
    const object = normalizeNumbers(json) as unknown as KubeObject;
    if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    return this.#fitted(object, version);
  }

  /** Pruned and defaulted in the version it is stored in, then converted; the same object when nothing changes. */
  #fromStored(stored: StoredObject, object: KubeObject): KubeObject {
    const complete = this.#completed(stored, object);
    if (object.apiVersion === this.#apiVersion) return complete;
    invariant(!this.isConvertedByWebhook, "a stored object was read before it was prepared");
    return this.#relabelled(complete, this.#options.gvk.version);
  }

  /** Throws an UndecodableError for an object left in a version that the definition no longer has. */
  #completed(stored: StoredObject, object: KubeObject): KubeObject {
    const { apiVersion = "" } = object;
    const schema = this.#options.schemas.get(apiVersion.slice(apiVersion.indexOf("/") + 1));
    if (schema === undefined) throw this.#undecodable(stored, `request to convert CR from an invalid group/version: ${apiVersion}`);
    return completed(object, schema);
  }

  #undecodable(stored: StoredObject, text: string): UndecodableError {
    return new UndecodableError(this.#options.storagePath + stored.key, `object not decodable revision=${stored.revision}: ${text}`);
  }

  /** Conversion strategy None: another apiVersion, and what the other version does not know goes. */
  #relabelled(object: KubeObject, version: string): KubeObject {
    return this.#fitted({ ...deepCopy(object), apiVersion: apiVersionOf(this.#options.gvk.group, version) }, version);
  }

  /** The object without what its version does not know; changed in place. */
  #fitted(object: KubeObject, version: string): KubeObject {
    const schema = this.#options.schemas.get(version);
    if (schema === undefined) return object;
    const { metadata } = object;
    prune(object as unknown as JsonObject, schema.structural);
    dropNulls(object as unknown as JsonValue, schema.structural);
    object.metadata = metadata;
    return object;
  }
}

/** The same content under another revision. */
function atVersion(object: KubeObject, resourceVersion: string | undefined): KubeObject {
  if (object.metadata.resourceVersion === resourceVersion || resourceVersion === undefined) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** As webhooks see it. */
function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = object["metadata"] as JsonObject;
  return { ...object, metadata };
}

function* batches(stored: readonly StoredObject[], limit: typeof batch): Generator<StoredObject[]> {
  let some: StoredObject[] = [];
  let bytes = 0;
  for (const one of stored) {
    some.push(one);
    bytes += one.bytes.length;
    if (some.length < limit.objects && bytes < limit.bytes) continue;
    yield some;
    some = [];
    bytes = 0;
  }
  if (some.length > 0) yield some;
}

/** A stored object as the schema of its version wants it; itself when it is so already. */
function completed(object: KubeObject, schema: VersionSchema): KubeObject {
  if (isSurelyComplete(object, schema)) return object;
  const copy = deepCopy(object);
  const json = copy as unknown as JsonObject;
  const { metadata } = copy;
  const unknown = prune(json, schema.structural);
  const isRid = dropNulls(json, schema.structural);
  const isFilled = schema.hasDefaults && applyDefaults(json, schema.structural);
  copy.metadata = metadata;
  return unknown.length > 0 || isRid || isFilled ? copy : object;
}

function isSurelyComplete(object: KubeObject, schema: VersionSchema): boolean {
  return !schema.hasEmbeddedResources && isComplete(object as unknown as JsonObject, schema.structural);
}

/** What a client sent: type and metadata as they are, everything else as the schema says. */
function admit(value: JsonObject, schema: VersionSchema): { object: KubeObject; unknown: string[] } {
  const { metadata: given } = value;
  const { structural } = schema;
  const decoded = given === undefined || given === null ? { metadata: {}, unknown: [] } : decodeMetadata(given);
  const type = { apiVersion: value["apiVersion"], kind: value["kind"] };
  const unknown = prune(value, structural);
  dropNulls(value, structural);
  const embedded = schema.hasEmbeddedResources ? normalizeEmbedded(value, structural) : [];
  const object = value as unknown as KubeObject;
  for (const name of ["apiVersion", "kind"] as const) {
    if (type[name] === undefined) delete object[name];
    else if (typeof type[name] !== "string") throw new DecodeError("value", `${name} is no text`);
    else object[name] = type[name];
  }
  object.metadata = decoded.metadata;
  return { object, unknown: [...decoded.unknown, ...unknown, ...embedded].sort() };
}

/**
 * Numbers as Go's decoder has them: integers that fit int64 keep every digit, all others are float64. Changes `value`; does not recurse.
 */
export function normalizeNumbers(value: JsonValue): JsonValue {
  const root: JsonValue[] = [value];
  const pending: (JsonObject | JsonValue[])[] = [root];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    for (const key of Object.keys(container)) {
      const member = (container as JsonObject)[key]!;
      if (isRawNumber(member)) Object.defineProperty(container, key, { value: normalNumber(member), writable: true, enumerable: true, configurable: true });
      else if (isObject(member) || Array.isArray(member)) pending.push(member);
    }
  }
  return root[0]!;
}

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

function normalNumber(raw: RawNumber): number | RawNumber {
  const number = Number(raw.rawJSON);
  if (!/^-?\d+$/.test(raw.rawJSON) || Number.isSafeInteger(number)) return number + 0;
  const integer = BigInt(raw.rawJSON);
  return integer >= int64.min && integer <= int64.max ? rawNumber(integer.toString()) : number;
}
