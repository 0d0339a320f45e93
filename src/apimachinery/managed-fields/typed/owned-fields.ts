/** Which fields a value sets: what an applied configuration owns. */
import { isObject } from "../../json.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import type { ListSchema, Schema } from "../../schema.ts";
import { emptySet, makeNode, memberNode } from "../sets/field-set.ts";
import type { FieldSet } from "../sets/field-set.ts";
import { itemElement } from "../sets/path-element.ts";
import { isDeclaredField, itemSchema, memberSchema, shapeOf } from "./typed-shape.ts";

/**
 * The fields of `object`: its leaves, every item of associative lists, every key of maps, and declared fields that are
 * null or an empty map (but not an empty associative list).
 * Items that cannot be told apart are owned as one, without their content.
 */
export function ownedFields(object: JsonObject, schema: Schema): FieldSet {
  return mapMembers(object, schema) ?? emptySet;
}

function valueMembers(value: JsonValue, schema: Schema): FieldSet | undefined {
  switch (shapeOf(schema, value)) {
    case "leaf":
      return memberNode;
    case "map":
      return isObject(value) ? mapMembers(value, schema) : undefined;
    case "list":
      return Array.isArray(value) ? listMembers(value, schema as ListSchema) : undefined;
  }
}

function mapMembers(object: JsonObject, schema: Schema): FieldSet | undefined {
  let members: Record<string, FieldSet> | undefined;
  for (const name in object) {
    const member = memberSchema(schema, name);
    if (member === undefined) continue;
    const value = object[name]!;
    const node = makeNode(isEmpty(value) || !isDeclaredField(schema, name), valueMembers(value, member)) ?? leafNode(value, member);
    if (node !== undefined) (members ??= {})[`f:${name}`] = node;
  }
  return members;
}

const leafNode = (value: JsonValue, schema: Schema) => (shapeOf(schema, value) === "leaf" ? memberNode : undefined);

function isEmpty(value: JsonValue): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

function listMembers(list: JsonValue[], schema: ListSchema): FieldSet | undefined {
  const items: Record<string, FieldSet> = {};
  for (const item of list) {
    const found = itemElement(item, schema);
    if ("fault" in found) continue;
    const { element } = found;
    items[element] = Object.hasOwn(items, element) ? memberNode : makeNode(true, valueMembers(item, itemSchema(schema)))!;
  }
  return Object.keys(items).length === 0 ? undefined : items;
}
