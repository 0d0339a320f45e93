/** Lists that are sets or maps hold no item twice (structural-schema extension x-kubernetes-list-type). */
import type { FieldError } from "../field-error.ts";
import { duplicate } from "../field-error.ts";
import type { FieldPath } from "../field-path.ts";
import { deepEqual, isObject, isRawNumber } from "../json.ts";
import type { JsonValue } from "../json.ts";
import { memberOf } from "./structural-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Faults of all lists in `value`. */
export function listTypeErrors(value: JsonValue, schema: StructuralSchema, path: FieldPath): FieldError[] {
  if (Array.isArray(value)) {
    const own = duplicates(value, schema, path);
    return schema.items === undefined
      ? own
      : [...own, ...value.flatMap((item, index) => (isContainer(item) ? listTypeErrors(item, schema.items!, path.index(index)) : []))];
  }
  if (!isObject(value)) return [];
  const errors: FieldError[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (!isContainer(member)) continue;
    const property = schema.properties.get(name);
    const within = property ?? memberOf(schema, name);
    if (within !== undefined) errors.push(...listTypeErrors(member, within, property === undefined ? path.key(name) : path.child(name)));
  }
  return errors;
}

function isContainer(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !isRawNumber(value);
}

function duplicates(list: readonly JsonValue[], schema: StructuralSchema, path: FieldPath): FieldError[] {
  switch (schema.listType) {
    case "atomic":
      return [];
    case "set":
      return repeated(list, (item) => item).map((index) => duplicate(path.index(index), sorted(list[index]!)));
    case "map":
      return repeated(list, (item) => keysOf(item, schema)).map((index) => duplicate(path.index(index), sorted(keysOf(list[index]!, schema))));
  }
}

/** The keys of an item that it has. */
function keysOf(item: JsonValue, schema: StructuralSchema): JsonValue {
  if (!isObject(item)) return {};
  return Object.fromEntries(schema.listMapKeys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]!]));
}

/** Indexes of items that repeat an earlier one; each value is told once. */
function repeated(list: readonly JsonValue[], identity: (item: JsonValue) => JsonValue): number[] {
  const found: number[] = [];
  const seen = new Map<string, { value: JsonValue; isTold: boolean }[]>();
  for (const [index, item] of list.entries()) {
    const value = identity(item);
    const bucket = isContainer(value) ? JSON.stringify(sorted(value)) : `${typeof value} ${isRawNumber(value) ? value.rawJSON : String(value)}`;
    const known = seen.get(bucket) ?? [];
    const same = known.find((other) => deepEqual(other.value, value));
    if (same === undefined) seen.set(bucket, [...known, { value, isTold: false }]);
    else if (!same.isTold) {
      same.isTold = true;
      found.push(index);
    }
  }
  return found;
}

/** Members in the order in which Go prints maps. */
function sorted(value: JsonValue): JsonValue {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}
