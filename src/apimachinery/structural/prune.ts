/** Drops what a structural schema does not declare (documentation page "CustomResourceDefinitions: Field pruning"). */
import { isObject } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Prunes a whole object in place; returns the paths of what was dropped, sorted. `apiVersion`, `kind` and `metadata` stay. */
export function prune(object: JsonObject, schema: StructuralSchema): string[] {
  const unknown: string[] = [];
  pruneValue(object, schema, { path: "", isResource: true, unknown });
  return unknown.sort();
}

interface Place {
  readonly path: string;
  /** An object with apiVersion, kind and metadata of its own, which are not the schema's concern. */
  readonly isResource: boolean;
  readonly unknown: string[];
}

const typeMembers: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Recursion ends where the schema does: below it, nothing is kept or everything. */
function pruneValue(value: JsonValue, schema: StructuralSchema | undefined, place: Place): void {
  if (Array.isArray(value)) pruneList(value, schema, place);
  else if (isObject(value)) pruneObject(value, schema, place);
}

function pruneObject(object: JsonObject, schema: StructuralSchema | undefined, place: Place): void {
  const { unknown, isResource } = place;
  for (const name of Object.keys(object)) {
    if (isResource && typeMembers.has(name)) continue;
    const path = place.path === "" ? name : `${place.path}.${name}`;
    const property = schema?.properties.get(name);
    if (property !== undefined) descend(object[name]!, property, path, unknown);
    else if (schema?.additionalProperties !== undefined)
      descend(object[name]!, typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined, path, unknown);
    else if (schema?.preservesUnknownFields !== true) {
      delete object[name];
      unknown.push(path);
    }
  }
}

function pruneList(list: JsonValue[], schema: StructuralSchema | undefined, place: Place): void {
  if (schema?.preservesUnknownFields === true && schema.items === undefined) return;
  for (const [index, item] of list.entries()) descend(item, schema?.items, `${place.path}[${index}]`, place.unknown);
}

function descend(value: JsonValue, schema: StructuralSchema | undefined, path: string, unknown: string[]): void {
  if (typeof value === "object" && value !== null) pruneValue(value, schema, { path, isResource: schema?.isEmbeddedResource === true, unknown });
}
