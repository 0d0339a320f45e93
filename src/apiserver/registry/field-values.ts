/**
 * What field selectors look at. Each watch that has one asks for every event's values, before and after: they are worked out once for a stored
 * object, and for what this server writes while the object is still at hand, so that nobody has to parse it again.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { readOnce } from "./versions/convert.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

export type FieldValues = Readonly<Record<string, string>>;

/** By stored bytes, then by version. */
const known = new WeakMap<Buffer, Map<string, FieldValues>>();

/** The values of an object that can be read in the version of `definition`, by field label. */
export function fieldValues(definition: ResourceDefinition, stored: StoredObject): FieldValues {
  return known.get(stored.bytes)?.get(versionOf(definition)) ?? note(definition, stored.bytes, readOnce(definition, stored));
}

/** Keeps the values of an object that was encoded to `bytes`. */
export function noteFieldValues(definition: ResourceDefinition, bytes: Buffer, object: KubeObject): void {
  if (definition.strategy?.selectableFields !== undefined && definition.codec === undefined) note(definition, bytes, object);
}

function note(definition: ResourceDefinition, bytes: Buffer, object: KubeObject): FieldValues {
  const { name = "", namespace = "" } = object.metadata;
  const values = { "metadata.name": name, "metadata.namespace": namespace, ...definition.strategy?.selectableFields?.(object) };
  let byVersion = known.get(bytes);
  if (byVersion === undefined) known.set(bytes, (byVersion = new Map()));
  byVersion.set(versionOf(definition), values);
  return values;
}

function versionOf({ group, version }: ResourceDefinition): string {
  return `${group}/${version}`;
}
