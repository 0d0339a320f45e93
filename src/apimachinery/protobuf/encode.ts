/** API objects as protobuf, byte for byte as Kubernetes' generated code writes them. */
import { isObject, isRawNumber } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FieldSchema, MapSchema, ScalarSchema, Schema, StructSchema } from "../schema.ts";
import { parseInstant } from "../time.ts";
import { isListMessage, messagePlan } from "./plan.ts";
import type { MessagePlan } from "./plan.ts";
import { BackwardWriter, wireInteger } from "./wire.ts";

/** The message of `object`, without an envelope. */
export function encodeMessage(object: JsonObject, schema: StructSchema): Uint8Array {
  const writer = new BackwardWriter();
  writeMessage(writer, object, messagePlan(schema));
  return writer.finish();
}

export function writeMessage(writer: BackwardWriter, object: JsonObject, plan: MessagePlan): void {
  for (let index = plan.entries.length - 1; index >= 0; index--) {
    const entry = plan.entries[index]!;
    if (entry.embedded === undefined) {
      writeField(writer, object, entry.field, plan.schema);
      continue;
    }
    const before = writer.length;
    writeMessage(writer, object, entry.embedded);
    writer.closeMessage(entry.number, before);
  }
}

function writeField(writer: BackwardWriter, object: JsonObject, field: FieldSchema, struct: StructSchema): void {
  const { schema, protobufNumber } = field;
  const value = object[field.name] ?? null;
  if (value === null && field.isPointer) return;
  if (schema.shape === "scalar" || schema.shape === "struct") {
    if (value !== null || schema.shape === "struct" || schema.scalar !== "bytes") writeValue(writer, protobufNumber, value, schema, struct);
  } else if (isListMessage(schema)) {
    writeListMessage(writer, protobufNumber, value);
  } else if (schema.shape === "list") {
    const items = (value ?? none) as readonly JsonValue[];
    for (let index = items.length - 1; index >= 0; index--) writeValue(writer, protobufNumber, items[index]!, schema.items, struct);
  } else if (value !== null) {
    writeMap(writer, protobufNumber, value as JsonObject, schema, struct);
  }
}

const none: readonly JsonValue[] = [];

function writeMap(writer: BackwardWriter, number: number, map: JsonObject, schema: MapSchema, struct: StructSchema): void {
  const keys = Object.keys(map);
  if (keys.length > 1) keys.sort(compareBytes);
  for (const key of keys.reverse()) {
    const before = writer.length;
    const value = map[key]!;
    if (isListMessage(schema.values)) writeListMessage(writer, 2, value);
    else writeValue(writer, 2, value, schema.values, struct);
    writer.string(1, key);
    writer.closeMessage(number, before);
  }
}

/** The order of UTF-8 bytes, which differs from JavaScript's only beyond the basic plane. */
function compareBytes(left: string, right: string): number {
  return /[\ud800-\udfff]/.test(left + right) ? Buffer.compare(Buffer.from(left), Buffer.from(right)) : left < right ? -1 : 1;
}

function writeListMessage(writer: BackwardWriter, number: number, value: JsonValue): void {
  const before = writer.length;
  const items = (value ?? []) as string[];
  for (let index = items.length - 1; index >= 0; index--) writer.string(1, items[index]!);
  writer.closeMessage(number, before);
}

function writeValue(writer: BackwardWriter, number: number, value: JsonValue, schema: Schema, struct: StructSchema): void {
  if (schema.shape === "scalar") {
    writeScalar(writer, number, value, schema, struct);
    return;
  }
  const before = writer.length;
  if (schema.shape === "struct") writeMessage(writer, (value ?? {}) as JsonObject, messagePlan(schema));
  writer.closeMessage(number, before);
}

function writeScalar(writer: BackwardWriter, number: number, value: JsonValue, schema: ScalarSchema, struct: StructSchema): void {
  const before = writer.length;
  switch (schema.scalar) {
    case "string":
      writer.string(number, (value ?? "") as string);
      return;
    case "bool":
      writer.integer(number, value === true ? 1 : 0);
      return;
    case "bytes":
      writer.bytes(number, Buffer.from((value ?? "") as string, "base64"));
      return;
    case "float64":
      writer.double(number, isRawNumber(value) ? Number(value.rawJSON) : ((value ?? 0) as number));
      return;
    case "float32":
      writer.float(number, (value ?? 0) as number);
      return;
    case "quantity":
      writer.string(1, value === null ? "0" : String(value));
      break;
    case "time":
    case "microTime":
      if (value !== null) writeTime(writer, value as string, schema.scalar);
      break;
    case "duration":
      writer.integer(1, value === null ? 0 : durationNanos(value as string));
      break;
    case "intOrString":
      writer.string(3, typeof value === "string" ? value : "");
      writer.integer(2, typeof value === "number" ? value : 0);
      writer.integer(1, typeof value === "string" ? 1 : 0);
      break;
    case "json":
      writeJson(writer, value, schema, struct);
      break;
    default:
      writer.integer(number, wireInteger(value ?? 0));
      return;
  }
  writer.closeMessage(number, before);
}

function writeTime(writer: BackwardWriter, text: string, layout: "time" | "microTime"): void {
  const { seconds, nanos } = parseInstant(text, layout);
  // Time is kept to the second, so that JSON and protobuf clients see the same.
  writer.integer(2, layout === "time" ? 0 : nanos);
  writer.integer(1, seconds);
}

/** RawExtension, FieldsV1 and JSON hold JSON text; the schema unions of CustomResourceDefinitions are messages of their own. */
function writeJson(writer: BackwardWriter, value: JsonValue, schema: ScalarSchema, struct: StructSchema): void {
  const isUnion = schema.special?.startsWith("JSONSchemaPropsOr") === true;
  if (!isUnion) {
    if (value !== null) writer.string(1, JSON.stringify(value));
    return;
  }
  if (Array.isArray(value)) {
    const items: Schema = schema.special === "JSONSchemaPropsOrArray" ? struct : { shape: "scalar", scalar: "string", goName: "string" };
    for (let index = value.length - 1; index >= 0; index--) writeValue(writer, 2, value[index]!, items, struct);
  }
  if (isObject(value)) writeValue(writer, schema.special === "JSONSchemaPropsOrBool" ? 2 : 1, value, struct, struct);
  if (schema.special === "JSONSchemaPropsOrBool") writer.integer(1, value === true || isObject(value) ? 1 : 0);
}

const unitNanos: ReadonlyMap<string, number> = new Map([
  ["ns", 1],
  ["us", 1e3],
  ["µs", 1e3],
  ["ms", 1e6],
  ["s", 1e9],
  ["m", 60e9],
  ["h", 3600e9],
]);

/** A Go duration such as `1h2m0.5s` in nanoseconds. */
function durationNanos(text: string): bigint {
  let nanos = 0;
  for (const [, amount, unit] of text.matchAll(/(\d*\.?\d+|\d+\.)(ns|us|µs|ms|s|m|h)/g)) nanos += Number(amount) * unitNanos.get(unit!)!;
  return BigInt(Math.round(text.startsWith("-") ? -nanos : nanos));
}
