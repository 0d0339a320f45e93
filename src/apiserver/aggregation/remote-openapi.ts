/** OpenAPI documents of extension API servers: their part in the documents of this server. Pure. */
import { atOnce } from "../../base/pacer.ts";
import { deepEqual, isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { referencedDefinitions } from "../openapi/document-v3.ts";

const prefix = "#/definitions/";

/** The paths below `root` of a version 2 document, and the definitions that they need. */
export function partBelow(document: JsonObject, root: string): JsonObject {
  const paths = Object.fromEntries(Object.entries(members(document["paths"])).filter(([path]) => path === root || path.startsWith(`${root}/`)));
  const definitions = members(document["definitions"]);
  return { paths, definitions: atOnce(referencedDefinitions(paths, prefix, (name) => members(definitions[name]))) };
}

/** A version 2 document with the parts of others. A definition that says something else than one of the same name gets a name of its own. */
export function withParts(document: JsonObject, parts: readonly JsonObject[]): JsonObject {
  const paths = { ...members(document["paths"]) };
  const definitions = { ...members(document["definitions"]) };
  for (const part of parts) {
    const renamed = new Map<string, string>();
    for (const [name, definition] of Object.entries(members(part["definitions"]))) {
      const free = freeName(definitions, name, definition);
      if (free !== name) renamed.set(prefix + name, prefix + free);
    }
    const own = renamed.size === 0 ? part : (renameReferences(part, renamed) as JsonObject);
    for (const [name, definition] of Object.entries(members(own["definitions"])))
      definitions[(renamed.get(prefix + name) ?? prefix + name).slice(prefix.length)] ??= definition;
    for (const [path, item] of Object.entries(members(own["paths"]))) paths[path] ??= item;
  }
  return { ...document, paths: sorted(paths), definitions: sorted(definitions) };
}

function freeName(taken: JsonObject, name: string, definition: JsonValue): string {
  let free = name;
  for (let count = 2; taken[free] !== undefined && !deepEqual(taken[free], definition); count++) free = `${name}_v${count}`;
  return free;
}

function renameReferences(value: JsonValue, renamed: ReadonlyMap<string, string>): JsonValue {
  return JSON.parse(
    JSON.stringify(value, (key, member: JsonValue) => (key === "$ref" && typeof member === "string" ? (renamed.get(member) ?? member) : member)),
  ) as JsonValue;
}

function members(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
