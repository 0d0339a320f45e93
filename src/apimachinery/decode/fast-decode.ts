/**
 * The common case: a body without any fault, as `JSON.parse` read it. Values are normalised in place. Whatever is unusual (an unknown
 * field, a wrong type, a duplicate, null where it stands for a value) makes it give up; the exact decoder then starts anew from the bytes.
 */
import { isRawNumber, setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FieldSchema, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from "../schema.ts";
import { DecodeError } from "./decode-error.ts";
import { base64Text, quantityText, timeText } from "./scalars.ts";

/**
 * `value` as a faultless `schema`, or undefined to give up. `members`: how many it must have on all levels, when some may have been lost.
 * Nesting is at most 200 levels.
 */
export function decodeFast(value: JsonValue, schema: StructSchema, members?: number): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isRawNumber(value)) return undefined;
  const decoder = new FastDecoder();
  try {
    const object = decoder.struct(value, schema);
    return members === undefined || decoder.members === members ? object : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** A copy of what could have been a text that `JSON.parse` reads without loss; else undefined. */
export function plainCopy(value: JsonValue, depth = 0): JsonValue | undefined {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? value : undefined;
    case "number":
      return Number.isInteger(value) && value >= 0 && value < 1e15 ? value + 0 : undefined;
    case "boolean":
      return value;
    default:
      return value === null ? null : plainCopyOfContainer(value, depth);
  }
}

function plainCopyOfContainer(value: JsonValue & object, depth: number): JsonValue | undefined {
  if (depth === 200 || isRawNumber(value)) return undefined;
  const copy: JsonValue = Array.isArray(value) ? [] : {};
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (member === undefined) continue;
    const copied = plainCopy(member, depth + 1);
    if (copied === undefined) return undefined;
    if (Array.isArray(copy)) copy.push(copied);
    else setMember(copy, key, copied);
  }
  return copy;
}

/** The number of members of all objects in `value`. */
export function countMembers(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
    return count;
  }
  for (const key in value as JsonObject) count += 1 + countMembers((value as JsonObject)[key]!);
  return count;
}

class FastDecoder {
  members = 0;

  struct(object: JsonObject, schema: StructSchema): JsonObject | undefined {
    let hasNulls = false;
    for (const name in object) {
      this.members++;
      const field = schema.fields.get(name);
      if (field === undefined) return undefined;
      const value = object[name]!;
      if (value === null) {
        if (!isAbsentByNull(field)) return undefined;
        hasNulls = true;
        continue;
      }
      const decoded = this.#value(value, field.schema);
      if (decoded === undefined) return undefined;
      if (decoded !== value) object[name] = decoded;
    }
    return hasNulls ? withoutNulls(object) : object;
  }

  /** The value in Go's form, or undefined to give up. */
  #value(value: JsonValue, schema: Schema): JsonValue | undefined {
    if (value === null) return undefined;
    switch (schema.shape) {
      case "scalar":
        return this.#scalar(value, schema);
      case "struct":
        return typeof value === "object" && !Array.isArray(value) ? this.struct(value as JsonObject, schema) : undefined;
      case "list":
        return Array.isArray(value) && this.#list(value, schema) ? value : undefined;
      case "map":
        return typeof value === "object" && !Array.isArray(value) && this.#map(value as JsonObject, schema) ? value : undefined;
    }
  }

  #list(list: JsonValue[], schema: ListSchema): boolean {
    for (let index = 0; index < list.length; index++) {
      const value = list[index]!;
      const decoded = this.#value(value, schema.items);
      if (decoded === undefined) return false;
      if (decoded !== value) list[index] = decoded;
    }
    return true;
  }

  #map(map: JsonObject, schema: MapSchema): boolean {
    for (const key in map) {
      this.members++;
      const value = map[key]!;
      const decoded = this.#value(value, schema.values);
      if (decoded === undefined) return false;
      if (decoded !== value) map[key] = decoded;
    }
    return true;
  }

  #scalar(value: JsonValue, schema: ScalarSchema): JsonValue | undefined {
    switch (schema.scalar) {
      case "string":
      case "duration":
        return typeof value === "string" ? value : undefined;
      case "bool":
        return typeof value === "boolean" ? value : undefined;
      case "int32":
        return isInt32(value) ? value : undefined;
      case "int64":
        return typeof value === "number" ? value : undefined;
      case "uint8":
      case "uint16":
      case "uint32":
      case "uint64":
      case "float32":
      case "float64":
        return undefined;
      case "bytes":
        return base64(value);
      case "time":
      case "microTime":
        return typeof value === "string" ? (timeText(value, schema.scalar) ?? undefined) : undefined;
      case "quantity":
        return typeof value === "string" ? quantityText(value) : undefined;
      case "intOrString":
        return typeof value === "string" || isInt32(value) ? value : undefined;
      case "json":
        return this.#json(value, schema);
    }
  }

  #json(value: JsonValue, schema: ScalarSchema): JsonValue | undefined {
    if (schema.special?.startsWith("JSONSchemaPropsOr") === true) return undefined;
    this.members += countMembers(value);
    return value;
  }
}

/** Whether a field that is null is as good as absent; some types read a value from it. */
function isAbsentByNull({ isPointer, schema }: FieldSchema): boolean {
  if (isPointer || schema.shape !== "scalar") return true;
  return schema.scalar !== "quantity" && schema.scalar !== "intOrString";
}

/** Built anew: an object from which members were deleted is slow for good. */
function withoutNulls(object: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const name in object) if (object[name] !== null) kept[name] = object[name]!;
  return kept;
}

/** The structure scan lets only whole, positive numbers below 10^15 pass. */
function isInt32(value: JsonValue): boolean {
  return typeof value === "number" && value <= 0x7fff_ffff;
}

function base64(value: JsonValue): string | undefined {
  if (typeof value !== "string") return undefined;
  const result = base64Text(value);
  return "text" in result ? result.text : undefined;
}
