/** How the objects of a resource are read and printed: by the schema of their Go type, or (custom resources) by a codec of their own. */
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

export interface ObjectCodec {
  /** The object that a client sent, changed in place, and what is unknown in it. Throws a `DecodeError`. */
  decode(value: JsonObject): { readonly object: KubeObject; readonly faults: string[] };
  /** The JSON that clients see. */
  print(object: KubeObject): JsonObject;
  /** A stored object in this version; `object` is what its bytes hold. */
  read(stored: StoredObject, object: KubeObject): KubeObject;
  /** Whether the stored bytes are what clients are to see. */
  isServedAsStored(stored: StoredObject, parse: () => KubeObject): boolean;
  /** The object in the version that is stored. */
  toStored(object: KubeObject): KubeObject;
}

/** An object of this version as JSON, without members that Go would leave out. */
export function printed(definition: Pick<ResourceDefinition, "codec" | "schema">, object: KubeObject): JsonObject {
  return definition.codec === undefined ? canonicalize(object as unknown as JsonObject, definition.schema) : definition.codec.print(object);
}
