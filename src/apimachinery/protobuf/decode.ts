/** API objects from protobuf. Fields that hold their zero value are left out where JSON would leave them out, too. */
import { decodeUntyped } from "../decode/decode-object.ts";
import { quantityText } from "../decode/scalars.ts";
import { setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FieldSchema, ScalarKind, ScalarSchema, Schema, StructSchema } from "../schema.ts";
import { formatInstant, zeroSeconds } from "../time.ts";
import { isListMessage, messagePlan } from "./plan.ts";
import type { MessagePlan } from "./plan.ts";
import { FieldCursor, floatOfBits, jsonInteger, wireType } from "./wire.ts";

/** The object in a message; throws a `DecodeError` for damaged bytes. Unknown fields are skipped. */
export function decodeMessage(bytes: Uint8Array, schema: StructSchema): JsonObject {
  const object: JsonObject = {};
  readMessage(new FieldCursor(bytes), messagePlan(schema), object);
  return object;
}

function readMessage(cursor: FieldCursor, plan: MessagePlan, object: JsonObject): void {
  while (cursor.next()) {
    const entry = plan.byNumber.get(cursor.number);
    if (entry === undefined) continue;
    if (entry.embedded !== undefined) readMessage(cursor.message(), entry.embedded, object);
    else readField(cursor, entry.field, object, plan.schema);
  }
}

function readField(cursor: FieldCursor, field: FieldSchema, object: JsonObject, struct: StructSchema): void {
  const { schema, name } = field;
  if (schema.shape === "scalar" || schema.shape === "struct") {
    const value = readValue(cursor, schema, struct);
    const isZero = value === null || value === 0 || value === false || (value === "" && !tellsEmpty(field));
    if (!isZero || field.isPointer) object[name] = value;
  } else if (schema.shape === "map") {
    const { key, value } = readEntry(cursor.message(), schema.values, struct);
    setMember((object[name] ??= {}) as JsonObject, key, value);
  } else if (isListMessage(schema)) {
    const items = readStrings(cursor.message());
    if (items.length > 0 || field.isPointer) object[name] = items;
  } else {
    const list = (object[name] ??= []) as JsonValue[];
    const isPacked = cursor.type === wireType.bytes && schema.items.shape === "scalar" && varintKinds.has(schema.items.scalar);
    if (isPacked) for (const item of cursor.packed()) list.push(readValue(item, schema.items, struct));
    else list.push(readValue(cursor, schema.items, struct));
  }
}

/** Empty bytes are not absent ones, and an empty text is not the number 0, unless JSON leaves the field out. */
function tellsEmpty({ schema, omitEmpty }: FieldSchema): boolean {
  return schema.shape === "scalar" && (schema.scalar === "intOrString" || (schema.scalar === "bytes" && !omitEmpty));
}

function readEntry(cursor: FieldCursor, schema: Schema, struct: StructSchema): { key: string; value: JsonValue } {
  let key = "";
  let value: JsonValue | undefined;
  while (cursor.next()) {
    if (cursor.number === 1) key = cursor.text;
    else if (cursor.number === 2) value = isListMessage(schema) ? readStrings(cursor.message()) : readValue(cursor, schema, struct);
  }
  return { key, value: value === undefined ? zeroOf(schema) : value };
}

function zeroOf(schema: Schema): JsonValue {
  if (schema.shape === "struct") return {};
  if (schema.shape === "list") return [];
  if (schema.shape === "map") return {};
  if (schema.scalar === "string" || schema.scalar === "bytes") return "";
  if (schema.scalar === "quantity") return "0";
  if (schema.scalar === "bool") return false;
  return varintKinds.has(schema.scalar) || schema.scalar === "intOrString" ? 0 : null;
}

function readStrings(cursor: FieldCursor): string[] {
  const items: string[] = [];
  while (cursor.next()) if (cursor.number === 1) items.push(cursor.text);
  return items;
}

function readValue(cursor: FieldCursor, schema: Schema, struct: StructSchema): JsonValue {
  if (schema.shape === "scalar") return readScalar(cursor, schema, struct);
  const object: JsonObject = {};
  if (schema.shape === "struct") readMessage(cursor.message(), messagePlan(schema), object);
  return object;
}

const varintKinds: ReadonlySet<ScalarKind> = new Set<ScalarKind>(["bool", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]);

function readScalar(cursor: FieldCursor, schema: ScalarSchema, struct: StructSchema): JsonValue {
  switch (schema.scalar) {
    case "string":
      return cursor.text;
    case "bool":
      return Number(cursor.value) !== 0;
    case "int32":
      return Number(cursor.signed(32));
    case "int64":
      return jsonInteger(cursor.signed(64));
    case "uint8":
    case "uint16":
    case "uint32":
    case "uint64":
      return jsonInteger(cursor.value);
    case "bytes":
      return Buffer.from(cursor.bytes).toString("base64");
    case "float64":
      return floatOfBits(cursor.value, 8);
    case "float32":
      return floatOfBits(cursor.value, 4);
    case "quantity":
      return readQuantity(cursor.message());
    case "time":
    case "microTime":
      return cursor.length === 0 ? null : readTime(cursor.message(), schema.scalar);
    case "intOrString":
      return readIntOrString(cursor.message());
    case "duration":
      return readDuration(cursor.message());
    case "json":
      return readJson(cursor, schema, struct);
  }
}

function readQuantity(cursor: FieldCursor): string {
  const text = cursor.last(1) ? cursor.text : "";
  return text === "" ? "0" : quantityText(text);
}

function readTime(cursor: FieldCursor, layout: "time" | "microTime"): string | null {
  let seconds = 0;
  let nanos = 0;
  while (cursor.next()) {
    if (cursor.number === 1) seconds = Number(cursor.signed(64));
    else if (cursor.number === 2) nanos = Number(cursor.signed(32));
  }
  return seconds === zeroSeconds && nanos === 0 ? null : formatInstant({ seconds, nanos }, layout);
}

function readIntOrString(cursor: FieldCursor): JsonValue {
  let isText = false;
  let number = 0;
  let text = "";
  while (cursor.next()) {
    if (cursor.number === 1) isText = Number(cursor.value) !== 0;
    else if (cursor.number === 2) number = Number(cursor.signed(32));
    else if (cursor.number === 3) text = cursor.text;
  }
  return isText ? text : number;
}

function readDuration(cursor: FieldCursor): string {
  return `${cursor.last(1) ? Number(cursor.signed(64)) / 1e9 : 0}s`;
}

function readJson(cursor: FieldCursor, schema: ScalarSchema, struct: StructSchema): JsonValue {
  const content = cursor.message();
  if (schema.special?.startsWith("JSONSchemaPropsOr") !== true) {
    return content.last(1) && content.length > 0 ? decodeUntyped(content.bytes, { mediaType: "json" }).value : null;
  }
  const isBool = schema.special === "JSONSchemaPropsOrBool";
  if (content.last(isBool ? 2 : 1)) return decodeMessage(content.bytes, struct);
  const again = cursor.message();
  if (isBool) return again.last(1) && Number(again.value) !== 0;
  const items: JsonValue[] = [];
  while (again.next()) {
    if (again.number === 2) items.push(schema.special === "JSONSchemaPropsOrArray" ? decodeMessage(again.bytes, struct) : again.text);
  }
  return items.length === 0 ? null : items;
}
