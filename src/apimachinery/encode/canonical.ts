/**
 * Objects as Go's json.Marshal prints the typed struct: every field without omitempty, nothing that is empty with it, in Go's order.
 * Does not recurse: schemas in CustomResourceDefinitions nest as deep as a body may.
 */
import { isObject, setMember, sortedKeys } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FieldSchema, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from "../schema.ts";

/**
 * A canonical copy of `object`. Unknown fields are dropped; `kind`, `apiVersion` and `metadata` come first. With `emptiesVanish` empty lists
 * and maps become absent ones: what a value is after it was stored as protobuf, which cannot tell them apart.
 */
export function canonicalize(object: JsonObject, schema: StructSchema, options: { readonly emptiesVanish?: boolean } = {}): JsonObject {
  const emptiesVanish = options.emptiesVanish === true;
  const root: JsonObject = {};
  const pending: Copy[] = [{ source: object, schema, target: root, struct: schema }];
  for (let copy = pending.pop(); copy !== undefined; copy = pending.pop()) {
    if (copy.schema.shape === "struct") copyStruct(copy.source as JsonObject, copy.target as JsonObject, { schema: copy.schema, emptiesVanish, pending });
    else if (copy.schema.shape === "list") copyList(copy.source as JsonValue[], copy as Copy & { schema: ListSchema }, pending);
    else copyMap(copy.source as JsonObject, copy as Copy & { schema: MapSchema }, pending);
  }
  return root;
}

/** A container that is still to be filled from its source. */
interface Copy {
  readonly source: JsonObject | JsonValue[];
  readonly schema: StructSchema | ListSchema | MapSchema;
  readonly target: JsonObject | JsonValue[];
  /** The struct around it, which is what the special schema types hold. */
  readonly struct: StructSchema;
}

function copyStruct(
  source: JsonObject,
  target: JsonObject,
  context: { readonly schema: StructSchema; readonly emptiesVanish: boolean; readonly pending: Copy[] },
): void {
  const { schema, emptiesVanish, pending } = context;
  for (const { field, dropsAbsent, dropsEmpty } of rulesOf(schema)) {
    const value = source[field.name];
    const isAbsent = value === undefined || value === null || (emptiesVanish && isEmptyContainer(value, field.schema));
    if (isAbsent ? dropsAbsent : dropsEmpty && isEmpty(value, field.schema)) continue;
    target[field.name] = isAbsent ? absentValue(field, schema, pending) : start(value, field.schema, schema, pending);
  }
}

/** What becomes of a field without content. */
interface FieldRule {
  readonly field: FieldSchema;
  readonly dropsAbsent: boolean;
  readonly dropsEmpty: boolean;
}

const rules = new WeakMap<StructSchema, readonly FieldRule[]>();

/** The rules of a struct's fields: they follow from the schema, and most fields of most objects are absent. */
function rulesOf(schema: StructSchema): readonly FieldRule[] {
  let known = rules.get(schema);
  if (known === undefined) {
    known = [...schema.fields.values()].map((field) => ({ field, dropsAbsent: isDroppedWhenAbsent(field), dropsEmpty: isDroppedWhenEmpty(field) }));
    rules.set(schema, known);
  }
  return known;
}

function isEmptyContainer(value: JsonValue, schema: Schema): boolean {
  if (schema.shape === "list") return Array.isArray(value) && value.length === 0;
  return schema.shape === "map" && isObject(value) && hasNoMembers(value);
}

function hasNoMembers(value: JsonObject): boolean {
  for (const _ in value) return false;
  return true;
}

function copyList(source: JsonValue[], { schema, target, struct }: Copy & { schema: ListSchema }, pending: Copy[]): void {
  for (const item of source) (target as JsonValue[]).push(item === null ? zeroOf(schema.items, struct, pending) : start(item, schema.items, struct, pending));
}

function copyMap(source: JsonObject, { schema, target, struct }: Copy & { schema: MapSchema }, pending: Copy[]): void {
  for (const key of sortedKeys(source)) {
    const value = source[key]!;
    setMember(target as JsonObject, key, value === null ? zeroOf(schema.values, struct, pending) : start(value, schema.values, struct, pending));
  }
}

/** The copy of a value; a container's members follow later. */
function start(value: JsonValue, schema: Schema, struct: StructSchema, pending: Copy[]): JsonValue {
  if (schema.shape === "scalar") return schema.special?.startsWith("JSONSchemaPropsOr") === true ? startSpecial(value, schema, struct, pending) : value;
  if (typeof value !== "object" || value === null) return value;
  const target: JsonObject | JsonValue[] = schema.shape === "list" ? [] : {};
  pending.push({ source: value as JsonObject | JsonValue[], schema, target, struct: schema.shape === "struct" ? schema : struct });
  return target;
}

/** A schema, or a list of schemas, where something else may stand, too. */
function startSpecial(value: JsonValue, schema: ScalarSchema, struct: StructSchema, pending: Copy[]): JsonValue {
  if (isObject(value)) return start(value, struct, struct, pending);
  if (!Array.isArray(value) || schema.special !== "JSONSchemaPropsOrArray") return value;
  return start(value, { shape: "list", items: struct, itemsArePointers: false, listType: "atomic", listMapKeys: [], goName: "[]" }, struct, pending);
}

function isDroppedWhenAbsent(field: FieldSchema): boolean {
  if (field.isPointer || field.schema.shape === "list" || field.schema.shape === "map") return field.omitEmpty;
  return isGoStruct(field.schema) ? field.omitZero : field.omitEmpty;
}

function isDroppedWhenEmpty(field: FieldSchema): boolean {
  return field.omitEmpty && !field.isPointer && !isGoStruct(field.schema);
}

function isEmpty(value: JsonValue, schema: Schema): boolean {
  if (schema.shape === "list" || schema.shape === "map") return isEmptyContainer(value, schema);
  return value === "" || value === 0 || value === false;
}

/** Whether Go's type is a struct, to which omitempty means nothing. */
function isGoStruct(schema: Schema): boolean {
  if (schema.shape === "struct") return true;
  if (schema.shape !== "scalar") return false;
  return structScalars.has(schema.scalar) && !(schema.scalar === "json" && schema.special === undefined);
}
const structScalars: ReadonlySet<string> = new Set(["time", "microTime", "duration", "quantity", "intOrString", "json"]);

function absentValue(field: FieldSchema, struct: StructSchema, pending: Copy[]): JsonValue {
  return field.isPointer ? null : zeroOf(field.schema, struct, pending);
}

function zeroOf(schema: Schema, struct: StructSchema, pending: Copy[]): JsonValue {
  if (schema.shape === "struct") return start({}, schema, struct, pending);
  if (schema.shape !== "scalar") return null;
  switch (schema.scalar) {
    case "string":
      return "";
    case "bool":
      return false;
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    case "bytes":
    case "time":
    case "microTime":
    case "json":
      return null;
    default:
      return 0;
  }
}
