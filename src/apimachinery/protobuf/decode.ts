/** API objects from protobuf. Fields that hold their zero value are left out where JSON would leave them out, too. */
import { decodeUntyped } from "../decode/decode-object.ts";
import { quantityText } from "../decode/scalars.ts";
import { setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FieldSchema, ScalarKind, ScalarSchema, Schema, StructSchema } from "../schema.ts";
import { formatInstant, zeroSeconds } from "../time.ts";
import { isListMessage, messagePlan } from "./plan.ts";
import type { MessagePlan } from "./plan.ts";
import { jsonInteger, packedVarints, wireFields, wireType } from "./wire.ts";
import type { WireField } from "./wire.ts";

/** The object in a message; throws a `DecodeError` for damaged bytes. Unknown fields are skipped. */
export function decodeMessage(bytes: Uint8Array, schema: StructSchema): JsonObject {
  const object: JsonObject = {};
  readMessage(bytes, messagePlan(schema), object);
  return object;
}

function readMessage(bytes: Uint8Array, plan: MessagePlan, object: JsonObject): void {
  for (const wire of wireFields(bytes)) {
    const entry = plan.byNumber.get(wire.number);
    if (entry === undefined) continue;
    if (entry.embedded !== undefined) readMessage(wire.bytes, entry.embedded, object);
    else readField(wire, entry.field, object, plan.schema);
  }
}

function readField(wire: WireField, field: FieldSchema, object: JsonObject, struct: StructSchema): void {
  const { schema, name } = field;
  if (isListMessage(schema)) {
    const items = readStrings(wire.bytes);
    if (items.length > 0 || field.isPointer) object[name] = items;
  } else if (schema.shape === "list") {
    const list = (object[name] ??= []) as JsonValue[];
    const isPacked = wire.type === wireType.bytes && schema.items.shape === "scalar" && varintKinds.has(schema.items.scalar);
    if (isPacked) for (const value of packedVarints(wire.bytes)) list.push(integer(value, (schema.items as ScalarSchema).scalar));
    else list.push(readValue(wire, schema.items, struct));
  } else if (schema.shape === "map") {
    const { key, value } = readEntry(wire.bytes, schema.values, struct);
    setMember((object[name] ??= {}) as JsonObject, key, value);
  } else {
    const value = readValue(wire, schema, struct);
    const isZero = value === null || value === "" || value === 0 || value === false;
    if (!isZero || field.isPointer) object[name] = value;
  }
}

function readEntry(bytes: Uint8Array, schema: Schema, struct: StructSchema): { key: string; value: JsonValue } {
  let key = "";
  let value = zeroOf(schema);
  for (const wire of wireFields(bytes)) {
    if (wire.number === 1) key = text(wire.bytes);
    else if (wire.number === 2) value = isListMessage(schema) ? readStrings(wire.bytes) : readValue(wire, schema, struct);
  }
  return { key, value };
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

function readStrings(bytes: Uint8Array): string[] {
  const items: string[] = [];
  for (const wire of wireFields(bytes)) if (wire.number === 1) items.push(text(wire.bytes));
  return items;
}

function readValue(wire: WireField, schema: Schema, struct: StructSchema): JsonValue {
  if (schema.shape === "scalar") return readScalar(wire, schema, struct);
  return schema.shape === "struct" ? decodeMessage(wire.bytes, schema) : {};
}

const varintKinds: ReadonlySet<ScalarKind> = new Set<ScalarKind>(["bool", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]);

function integer(value: bigint, kind: ScalarKind): JsonValue {
  if (kind === "bool") return value !== 0n;
  if (kind === "int32") return Number(BigInt.asIntN(32, value));
  return jsonInteger(kind === "int64" ? BigInt.asIntN(64, value) : value);
}

function readScalar(wire: WireField, schema: ScalarSchema, struct: StructSchema): JsonValue {
  if (varintKinds.has(schema.scalar)) return integer(wire.value, schema.scalar);
  switch (schema.scalar) {
    case "string":
      return text(wire.bytes);
    case "bytes":
      return Buffer.from(wire.bytes).toString("base64");
    case "float64":
    case "float32":
      return readFloat(wire.value, schema.scalar);
    case "quantity":
      return readQuantity(wire.bytes);
    case "time":
    case "microTime":
      return readTime(wire.bytes, schema.scalar);
    case "intOrString":
      return readIntOrString(wire.bytes);
    case "duration":
      return `${Number(BigInt.asIntN(64, lastOf(wire.bytes, 1)?.value ?? 0n)) / 1e9}s`;
    default:
      return readJson(wire.bytes, schema, struct);
  }
}

function readFloat(bits: bigint, kind: "float64" | "float32"): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return kind === "float64" ? view.getFloat64(0) : view.getFloat32(4);
}

function readQuantity(bytes: Uint8Array): string {
  const field = lastOf(bytes, 1);
  return field === undefined || field.bytes.length === 0 ? "0" : quantityText(text(field.bytes));
}

function readTime(bytes: Uint8Array, layout: "time" | "microTime"): string | null {
  if (bytes.length === 0) return null;
  const seconds = Number(BigInt.asIntN(64, lastOf(bytes, 1)?.value ?? 0n));
  const nanos = Number(BigInt.asIntN(32, lastOf(bytes, 2)?.value ?? 0n));
  return seconds === zeroSeconds && nanos === 0 ? null : formatInstant({ seconds, nanos }, layout);
}

function readIntOrString(bytes: Uint8Array): JsonValue {
  if ((lastOf(bytes, 1)?.value ?? 0n) === 0n) return Number(BigInt.asIntN(32, lastOf(bytes, 2)?.value ?? 0n));
  return text(lastOf(bytes, 3)?.bytes ?? new Uint8Array(0));
}

function readJson(bytes: Uint8Array, schema: ScalarSchema, struct: StructSchema): JsonValue {
  if (schema.special?.startsWith("JSONSchemaPropsOr") !== true) {
    const raw = lastOf(bytes, 1)?.bytes;
    return raw === undefined || raw.length === 0 ? null : decodeUntyped(raw, { mediaType: "json" }).value;
  }
  const isBool = schema.special === "JSONSchemaPropsOrBool";
  const alternative = lastOf(bytes, isBool ? 2 : 1);
  if (alternative !== undefined) return decodeMessage(alternative.bytes, struct);
  if (isBool) return (lastOf(bytes, 1)?.value ?? 0n) !== 0n;
  const items: JsonValue[] = [];
  for (const wire of wireFields(bytes)) {
    if (wire.number === 2) items.push(schema.special === "JSONSchemaPropsOrArray" ? decodeMessage(wire.bytes, struct) : text(wire.bytes));
  }
  return items.length === 0 ? null : items;
}

/** The last field of that number, which is the one that counts. */
function lastOf(bytes: Uint8Array, number: number): WireField | undefined {
  let found: WireField | undefined;
  for (const wire of wireFields(bytes)) if (wire.number === number) found = wire;
  return found;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function text(bytes: Uint8Array): string {
  if (bytes.length > 64) return decoder.decode(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
