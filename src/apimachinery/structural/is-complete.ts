/** Whether an object is as pruning, dropping of nulls and defaulting leave it, told without a copy. May be false where only a null in a list is in doubt. */
import { isObject } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { memberOf } from "./structural-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const typeMembers: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** For schemas without embedded resources. Of `apiVersion`, `kind` and `metadata` nothing is asked. Recursion ends where the schema does. */
export function isComplete(object: JsonObject, schema: StructuralSchema): boolean {
  return hasAllDefaults(object, schema) && Object.keys(object).every((name) => typeMembers.has(name) || isMemberComplete(object, name, schema));
}

function isValueComplete(value: JsonValue, schema: StructuralSchema | undefined): boolean {
  if (Array.isArray(value)) {
    if (schema?.preservesUnknownFields === true && schema.items === undefined) return true;
    return value.every((item) => isPresent(item, schema?.items) && isValueComplete(item, schema?.items));
  }
  if (!isObject(value)) return true;
  return hasAllDefaults(value, schema) && Object.keys(value).every((name) => isMemberComplete(value, name, schema));
}

function isMemberComplete(object: JsonObject, name: string, schema: StructuralSchema | undefined): boolean {
  const member = schema && memberOf(schema, name);
  if (member !== undefined) return isPresent(object[name]!, member) && isValueComplete(object[name]!, member);
  if (schema?.additionalProperties !== undefined) return isValueComplete(object[name]!, undefined);
  return schema?.preservesUnknownFields === true;
}

function hasAllDefaults(object: JsonObject, schema: StructuralSchema | undefined): boolean {
  if (schema === undefined) return true;
  for (const [name, { defaultValue }] of schema.properties) if (defaultValue !== undefined && !Object.hasOwn(object, name)) return false;
  return true;
}

/** A null that is not allowed is dropped, or gives way to a default. */
function isPresent(value: JsonValue, schema: StructuralSchema | undefined): boolean {
  return value !== null || schema === undefined || schema.isNullable;
}
