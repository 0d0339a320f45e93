/**
 * Custom resources between their JSON and what the registry works with: pruned by their version's schema, with defaults, their metadata in
 * canonical form. Stored objects may be older than the schema, so that they are looked through once before their bytes are served.
 */
import { DecodeError } from "../../apimachinery/decode/decode-object.ts";
import { deepCopy, isObject, isRawNumber, rawNumber } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue, RawNumber } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { OtherVersions } from "../../apimachinery/managed-fields/versions.ts";
import type { GroupVersionKind, KubeObject } from "../../apimachinery/object.ts";
import { applyDefaults, dropNulls } from "../../apimachinery/structural/defaults.ts";
import { prune } from "../../apimachinery/structural/prune.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { UndecodableError } from "../registry/object-codec.ts";
import type { ObjectCodec } from "../registry/object-codec.ts";
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
}

export class CustomResourceCodec implements ObjectCodec {
  readonly #options: CodecOptions;
  readonly #apiVersion: string;
  /** What a stored object looks like in this version; itself when its bytes can be served. */
  readonly #read = new WeakMap<StoredObject, KubeObject | "as stored">();

  constructor(options: CodecOptions) {
    this.#options = options;
    this.#apiVersion = apiVersionOf(options.gvk.group, options.gvk.version);
  }

  readonly otherVersions: OtherVersions = (apiVersion) => {
    const { gvk, schemas } = this.#options;
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const schema = apiVersion === apiVersionOf(gvk.group, version) ? schemas.get(version) : undefined;
    if (schema === undefined) return undefined;
    const to = (name: string) => (object: JsonObject) => this.#convert(object as unknown as KubeObject, name) as unknown as JsonObject;
    return { schema: schema.typed, convert: to(version), convertBack: to(gvk.version) };
  };

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
    const known = this.#read.get(stored);
    if (known !== undefined) return known === "as stored" ? object : known;
    const read = this.#fromStored(stored, object);
    this.#read.set(stored, read === object ? "as stored" : read);
    return read;
  }

  isServedAsStored(stored: StoredObject, parse: () => KubeObject): boolean {
    if (!this.#read.has(stored)) this.read(stored, parse());
    return this.#read.get(stored) === "as stored";
  }

  toStored(object: KubeObject): KubeObject {
    const { gvk, storedVersion } = this.#options;
    return storedVersion === gvk.version ? object : this.#convert(object, storedVersion);
  }

  /** Pruned and defaulted in the version it is stored in, then converted; the same object when nothing changes. */
  #fromStored(stored: StoredObject, object: KubeObject): KubeObject {
    const { apiVersion = "" } = object;
    const schema = this.#options.schemas.get(apiVersion.slice(apiVersion.indexOf("/") + 1));
    if (schema === undefined) throw this.#undecodable(stored, apiVersion);
    const complete = completed(object, schema);
    return object.apiVersion === this.#apiVersion ? complete : this.#convert(complete, this.#options.gvk.version);
  }

  /** An object left in a version that the definition no longer has. */
  #undecodable(stored: StoredObject, apiVersion: string): UndecodableError {
    const fault = `object not decodable revision=${stored.revision}: request to convert CR from an invalid group/version: ${apiVersion}`;
    return new UndecodableError(this.#options.storagePath + stored.key, fault);
  }

  /** Conversion strategy None: another apiVersion, and what the other version does not know goes. */
  #convert(object: KubeObject, version: string): KubeObject {
    const converted = { ...deepCopy(object), apiVersion: apiVersionOf(this.#options.gvk.group, version) };
    const schema = this.#options.schemas.get(version);
    if (schema === undefined) return converted;
    prune(converted as unknown as JsonObject, schema.structural);
    dropNulls(converted as unknown as JsonValue, schema.structural);
    return converted;
  }
}

/** A stored object as the schema of its version wants it; itself when it is so already. */
function completed(object: KubeObject, schema: VersionSchema): KubeObject {
  const copy = deepCopy(object);
  const json = copy as unknown as JsonObject;
  const { metadata } = copy;
  const unknown = prune(json, schema.structural);
  const isRid = dropNulls(json, schema.structural);
  const isFilled = schema.hasDefaults && applyDefaults(json, schema.structural);
  copy.metadata = metadata;
  return unknown.length > 0 || isRid || isFilled ? copy : object;
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
