/**
 * What field selectors look at. Each watch that has one asks for every event's values, before and after: they are worked out once for a stored
 * object, and for what this server writes while the object is still at hand, so that nobody has to parse it again.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { readOnce } from "./versions/convert.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

export type FieldValues = Readonly<Record<string, string>>;

/** The values of an object that can be read in the version of `definition`, by field label. */
export function fieldValues(definition: ResourceDefinition, stored: StoredObject): FieldValues {
  const version = versionOf(definition);
  const byVersion = ((stored.notes ??= {}).fieldValues ??= new Map());
  let values = byVersion.get(version);
  if (values === undefined) byVersion.set(version, (values = valuesOf(definition, readOnce(definition, stored))));
  return values;
}

/** The values of an object that is about to be written, where its kind has any of its own. */
export function writtenFieldValues(definition: ResourceDefinition, object: KubeObject): Map<string, FieldValues> | undefined {
  if (definition.strategy?.selectableFields === undefined) return undefined;
  return new Map([[versionOf(definition), valuesOf(definition, object)]]);
}

function valuesOf(definition: ResourceDefinition, object: KubeObject): FieldValues {
  const { name = "", namespace = "" } = object.metadata;
  return { "metadata.name": name, "metadata.namespace": namespace, ...definition.strategy?.selectableFields?.(object) };
}

function versionOf({ group, version }: ResourceDefinition): string {
  return `${group}/${version}`;
}
