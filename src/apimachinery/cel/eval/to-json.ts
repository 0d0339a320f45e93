/** Results as JSON: what mutations and messages of other places need. */
import { rawNumber } from "../../json.ts";
import type { JsonValue } from "../../json.ts";
import { formatDuration } from "./durations.ts";
import { showKey } from "./select.ts";
import { formatTimestamp } from "./timestamps.ts";
import { CelError, Double, Duration, ListValue, MapValue, ObjectValue, Optional, Timestamp, typeNameOf, Uint } from "./values.ts";
import type { Value } from "./values.ts";

/** JSON of a value, or an error for values that have none. Bytes become base64, times and durations texts, empty optionals null. */
export function toJson(value: Value): JsonValue | CelError {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "bigint") return rawNumber(value.toString());
  if (value instanceof Uint) return rawNumber(value.value.toString());
  if (value instanceof Double) return Number.isFinite(value.value) ? value.value : new CelError("json: unsupported value");
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value);
  if (value instanceof ListValue) return listToJson(value);
  if (value instanceof MapValue) return membersToJson([...value.keys()].map((key) => [showKey(key), value.get(key)!]));
  if (value instanceof ObjectValue) return membersToJson([...value.fieldNames()].map((name) => [name, value.field(name) ?? null]));
  return value instanceof CelError ? value : new CelError(`type conversion error from '${typeNameOf(value)}' to JSON`);
}

function listToJson(list: ListValue): JsonValue | CelError {
  const items: JsonValue[] = [];
  for (const each of list) {
    const item = toJson(each);
    if (item instanceof CelError) return item;
    items.push(item);
  }
  return items;
}

function membersToJson(members: readonly (readonly [string, Value])[]): JsonValue | CelError {
  const entries: [string, JsonValue][] = [];
  for (const [name, member] of members) {
    const json = toJson(member);
    if (json instanceof CelError) return json;
    entries.push([name, json]);
  }
  return Object.fromEntries(entries);
}
