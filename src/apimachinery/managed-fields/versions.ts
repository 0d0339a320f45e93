/**
 * Managed fields hold sets of several versions of a kind: each is compared in its own version. This is how a write sees its object in the
 * versions that the managers used.
 */
import type { JsonObject } from "../json.ts";
import type { Schema } from "../schema.ts";

/** A version of the kind: its schema, and the way of an object of the request's version there and back. */
export interface OtherVersion {
  readonly schema: Schema;
  convert(object: JsonObject): JsonObject;
  convertBack(object: JsonObject): JsonObject;
  /** Built-in kinds: what a manager gives up by applying in another version than before stays in the object, owned by nobody. */
  readonly keepsUnapplied?: boolean;
}

/** The version called `apiVersion`, or undefined when the kind has none: the fields of its managers are given up. */
export type OtherVersions = (apiVersion: string) => OtherVersion | undefined;

/** The request's own version. */
export function ownVersion(schema: Schema): OtherVersion {
  return { schema, convert: (object) => object, convertBack: (object) => object };
}
