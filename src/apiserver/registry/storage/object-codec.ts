/** How the objects of a resource are read and printed: by the schema of their Go type, or (custom resources) by a codec of their own. */
import { canonicalize } from "../../../apimachinery/encode/canonical.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import type { OtherVersions } from "../../../apimachinery/managed-fields/versions.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StatusError, internalServerError } from "../../../apimachinery/status.ts";
import { isCanonical } from "../../cache/stored-object.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import type { ResourceDefinition } from "../resource-definition.ts";

export interface ObjectCodec {
  /** The object that a client sent, changed in place, and what is unknown in it. Throws a `DecodeError`. */
  decode(value: JsonObject): { readonly object: KubeObject; readonly faults: string[] };
  /** An object that server-side apply made of this version's fields; changed in place. Throws a `DecodeError`. */
  adopt(value: JsonObject): KubeObject;
  /** Whether other versions are made by a webhook, which takes its time. */
  readonly isConvertedByWebhook: boolean;
  /** Runs a pure step that sees objects in the definition's other versions, as often as it takes. Rejects with a StatusError when a webhook fails. */
  withOtherVersions<T>(step: (versions: OtherVersions) => T): Promise<T>;
  /** An object of this version in another one, by its name. Rejects with a StatusError. */
  convert(object: KubeObject, version: string): Promise<KubeObject>;
  /** Makes stored objects fit to be read, where a webhook has to convert them first. Rejects with an UndecodableError. */
  prepare(stored: readonly StoredObject[], parse: (stored: StoredObject) => KubeObject): Promise<void>;
  /** The JSON that clients see. */
  print(object: KubeObject): JsonObject;
  /** A stored object in this version, prepared if need be; `object` is what its bytes hold. */
  read(stored: StoredObject, object: KubeObject): KubeObject;
  /** Whether the stored bytes are what clients are to see. */
  isServedAsStored(stored: StoredObject, parse: () => KubeObject): boolean;
  /** Hears of the bytes that an object of this version was written as, so that they need not be read for the answer. */
  noteWritten(bytes: Uint8Array, object: KubeObject): void;
  /** The object in the version that is stored. Rejects with a StatusError. */
  toStored(object: KubeObject): Promise<KubeObject>;
}

/** A stored object that no version of its definition can read; `fault` says why. */
export class UndecodableError extends StatusError {
  /** Without the root of all keys, with a slash in front. */
  readonly key: string;
  readonly fault: string;
  /** Whether it is the storage that could not open it (encryption at rest). */
  readonly isSealed: boolean;

  constructor(key: string, fault: string, isSealed = false) {
    super(internalServerError(`StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${fault}`).status);
    this.key = key;
    this.fault = fault;
    this.isSealed = isSealed;
  }
}

/** An object of this version as JSON, without members that Go would leave out. Callers must not change it: it may be the cached object itself. */
export function printed(definition: Pick<ResourceDefinition, "codec" | "schema">, object: KubeObject): JsonObject {
  if (definition.codec !== undefined) return definition.codec.print(object);
  const json = object as unknown as JsonObject;
  return isCanonical(object, definition.schema) ? json : canonicalize(json, definition.schema);
}
