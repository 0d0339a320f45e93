/** Takes fields out of an object: what an applier no longer applies. */
import { isObject, setMember } from "../../json.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import type { ListSchema, Schema } from "../../schema.ts";
import { childElements, isEmptySet, isMember, makeNode } from "../sets/field-set.ts";
import type { FieldSet } from "../sets/field-set.ts";
import { itemElement } from "../sets/path-element.ts";
import { isDeclaredField, itemSchema, memberSchema, shapeOf } from "./typed-shape.ts";

/** `object` without the members of `fields`; maps and lists that lose all their content become null. The argument stays as it is. */
export function removeFields(object: JsonObject, fields: FieldSet, schema: Schema): JsonObject {
  return isEmptySet(fields) ? object : (removeFromMap(object, fields, schema) ?? {});
}

/** `set` with the declared fields that lead to its members as members too; keys of maps and list items that lead there are not added. */
export function withDeclaredFields(set: FieldSet, schema: Schema | undefined): FieldSet {
  const result: Record<string, FieldSet> = {};
  if (Object.hasOwn(set, ".")) result["."] = set["."]!;
  for (const element of childElements(set)) {
    const node = set[element]!;
    const name = element.slice(2);
    const isField = element.startsWith("f:");
    const isDeclared = schema !== undefined && isField && isDeclaredField(schema, name);
    const child = schema === undefined ? undefined : isField ? memberSchema(schema, name) : schema.shape === "list" ? schema.items : undefined;
    const isItself = isMember(node) || isDeclared;
    const { ".": _, ...children } = withDeclaredFields(node, child);
    result[element] = makeNode(isItself, children)!;
  }
  return result;
}

function removeFromValue(value: JsonValue, fields: FieldSet, schema: Schema): JsonValue {
  switch (shapeOf(schema, value)) {
    case "leaf":
      return schema.shape === "scalar" ? value : null;
    case "map":
      return (isObject(value) ? removeFromMap(value, fields, schema) : undefined) ?? null;
    case "list":
      return (Array.isArray(value) ? removeFromList(value, fields, schema as ListSchema) : undefined) ?? null;
  }
}

function removeFromMap(object: JsonObject, fields: FieldSet, schema: Schema): JsonObject | undefined {
  const kept: JsonObject = {};
  for (const name in object) {
    const node = fields[`f:${name}`];
    if (node !== undefined && isMember(node)) continue;
    const member = memberSchema(schema, name);
    setMember(kept, name, node === undefined || member === undefined ? object[name]! : removeFromValue(object[name]!, node, member));
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function removeFromList(list: JsonValue[], fields: FieldSet, schema: ListSchema): JsonValue[] | undefined {
  const kept: JsonValue[] = [];
  for (const item of list) {
    const found = itemElement(item, schema);
    const node = "fault" in found ? undefined : fields[found.element];
    if (node !== undefined && isMember(node)) continue;
    kept.push(node === undefined ? item : removeFromValue(item, node, itemSchema(schema)));
  }
  return kept.length === 0 ? undefined : kept;
}
