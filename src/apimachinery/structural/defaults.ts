/** Fills in what an object leaves out (documentation page "CustomResourceDefinitions: Defaulting"). */
import { deepCopy, isObject, setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { memberOf } from "./structural-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Whether nothing in the schema has a default. */
export function hasDefaults(schema: StructuralSchema): boolean {
  if (schema.defaultValue !== undefined) return true;
  for (const property of schema.properties.values()) if (hasDefaults(property)) return true;
  if (typeof schema.additionalProperties === "object" && hasDefaults(schema.additionalProperties)) return true;
  return schema.items !== undefined && hasDefaults(schema.items);
}

/** Sets members that are absent, or null where null is not allowed, to their defaults; changes `value`. Returns whether anything changed. */
export function applyDefaults(value: JsonValue, schema: StructuralSchema): boolean {
  if (Array.isArray(value)) return schema.items !== undefined && defaultItems(value, schema.items);
  return isObject(value) && defaultMembers(value, schema);
}

function defaultMembers(object: JsonObject, schema: StructuralSchema): boolean {
  let isChanged = false;
  for (const [name, property] of schema.properties) {
    if (property.defaultValue === undefined) continue;
    if (Object.hasOwn(object, name) && !isForbiddenNull(object[name]!, property)) continue;
    setMember(object, name, deepCopy(property.defaultValue));
    isChanged = true;
  }
  for (const name of Object.keys(object)) {
    const property = schema.properties.get(name);
    const member = property ?? memberOf(schema, name);
    if (member === undefined) continue;
    if (property === undefined && isForbiddenNull(object[name]!, member) && member.defaultValue !== undefined) {
      setMember(object, name, deepCopy(member.defaultValue));
      isChanged = true;
    }
    if (applyDefaults(object[name]!, member)) isChanged = true;
  }
  return isChanged;
}

function defaultItems(list: JsonValue[], items: StructuralSchema): boolean {
  let isChanged = false;
  for (const [index, item] of list.entries()) {
    if (isForbiddenNull(item, items) && items.defaultValue !== undefined) {
      list[index] = deepCopy(items.defaultValue);
      isChanged = true;
    }
    if (applyDefaults(list[index]!, items)) isChanged = true;
  }
  return isChanged;
}

/** Removes members that are null where null is not allowed and no default would take their place; changes `value`. */
export function dropNulls(value: JsonValue, schema: StructuralSchema): boolean {
  let isChanged = false;
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) if (dropNulls(item, schema.items)) isChanged = true;
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const member = memberOf(schema, name);
      if (member === undefined) continue;
      if (isForbiddenNull(value[name]!, member) && member.defaultValue === undefined) {
        delete value[name];
        isChanged = true;
      } else if (dropNulls(value[name]!, member)) isChanged = true;
    }
  }
  return isChanged;
}

function isForbiddenNull(value: JsonValue, schema: StructuralSchema): boolean {
  return value === null && !schema.isNullable;
}
