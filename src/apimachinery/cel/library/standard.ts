/** What every environment has: operators, conversions, texts, times. */
import { declare, memberOverload, overload } from "../check/declarations.ts";
import type { FunctionDeclaration, Implementation, Overload } from "../check/declarations.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  parameter,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import { add, divide, multiply, negate, not, remainder, subtract } from "../eval/arithmetic.ts";
import { compare, isEqual } from "../eval/compare.ts";
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toType, toUint } from "../eval/conversions.ts";
import { select } from "../eval/select.ts";
import { sizeOf } from "../eval/actual-cost.ts";
import { timeField } from "../eval/timestamps.ts";
import type { TimeField } from "../eval/timestamps.ts";
import { isCelError, ListValue, MapValue, noSuchOperator, noSuchOverload } from "../eval/values.ts";
import type { Duration, Timestamp, Value } from "../eval/values.ts";
import { checkPattern, matchesPattern } from "./patterns.ts";

export function standardFunctions({ crossTypeNumericComparisons = true } = {}): FunctionDeclaration[] {
  return [...logic, ...arithmetic, ...comparisons(crossTypeNumericComparisons), ...collections, ...conversions, ...texts, ...times];
}

const itemA = parameter("A");
const itemB = parameter("B");
const listOfA = listType(itemA);
const mapOfAB = mapType(itemA, itemB);

/** An operator that looks at its operands itself. */
function operator(id: string, args: readonly CelType[], result: CelType, implementation: Implementation): Overload {
  return overload(id, args, result, implementation, { isUnguarded: true });
}

const logic: FunctionDeclaration[] = [
  declare(
    "_?_:_",
    operator("conditional", [boolType, itemA, itemA], itemA, () => noSuchOverload),
  ),
  declare(
    "_&&_",
    operator("logical_and", [boolType, boolType], boolType, () => noSuchOverload),
  ),
  declare(
    "_||_",
    operator("logical_or", [boolType, boolType], boolType, () => noSuchOverload),
  ),
  declare("!_", operator("logical_not", [boolType], boolType, not)),
  declare(
    "@not_strictly_false",
    overload("not_strictly_false", [boolType], boolType, (value) => (isCelError(value) ? true : value), { isNonStrict: true }),
  ),
  declare("_==_", operator("equals", [itemA, itemA], boolType, isEqual)),
  declare(
    "_!=_",
    operator("not_equals", [itemA, itemA], boolType, (left, right) => !isEqual(left, right)),
  ),
];

const arithmetic: FunctionDeclaration[] = [
  declare(
    "_+_",
    operator("add_bytes", [bytesType, bytesType], bytesType, add),
    operator("add_double", [doubleType, doubleType], doubleType, add),
    operator("add_duration_duration", [durationType, durationType], durationType, add),
    operator("add_duration_timestamp", [durationType, timestampType], timestampType, add),
    operator("add_timestamp_duration", [timestampType, durationType], timestampType, add),
    operator("add_int64", [intType, intType], intType, add),
    operator("add_list", [listOfA, listOfA], listOfA, add),
    operator("add_string", [stringType, stringType], stringType, add),
    operator("add_uint64", [uintType, uintType], uintType, add),
  ),
  declare(
    "_-_",
    operator("subtract_double", [doubleType, doubleType], doubleType, subtract),
    operator("subtract_duration_duration", [durationType, durationType], durationType, subtract),
    operator("subtract_int64", [intType, intType], intType, subtract),
    operator("subtract_timestamp_duration", [timestampType, durationType], timestampType, subtract),
    operator("subtract_timestamp_timestamp", [timestampType, timestampType], durationType, subtract),
    operator("subtract_uint64", [uintType, uintType], uintType, subtract),
  ),
  declare("_*_", ...numbers("multiply", multiply)),
  declare("_/_", ...numbers("divide", divide)),
  declare("_%_", operator("modulo_int64", [intType, intType], intType, remainder), operator("modulo_uint64", [uintType, uintType], uintType, remainder)),
  declare("-_", operator("negate_double", [doubleType], doubleType, negate), operator("negate_int64", [intType], intType, negate)),
];

function numbers(id: string, implementation: Implementation): Overload[] {
  return [
    operator(`${id}_double`, [doubleType, doubleType], doubleType, implementation),
    operator(`${id}_int64`, [intType, intType], intType, implementation),
    operator(`${id}_uint64`, [uintType, uintType], uintType, implementation),
  ];
}

const ordered: ReadonlyArray<readonly [id: string, type: CelType]> = [
  ["bool", boolType],
  ["int64", intType],
  ["uint64", uintType],
  ["double", doubleType],
  ["string", stringType],
  ["bytes", bytesType],
  ["timestamp", timestampType],
  ["duration", durationType],
];
const mixedNumbers: ReadonlyArray<readonly [id: string, left: CelType, right: CelType]> = [
  ["int64_double", intType, doubleType],
  ["int64_uint64", intType, uintType],
  ["uint64_double", uintType, doubleType],
  ["uint64_int64", uintType, intType],
  ["double_int64", doubleType, intType],
  ["double_uint64", doubleType, uintType],
];

function comparisons(isCrossType: boolean): FunctionDeclaration[] {
  const holds: ReadonlyArray<readonly [name: string, id: string, holds: (order: number) => boolean]> = [
    ["_<_", "less", (order) => order < 0],
    ["_<=_", "less_equals", (order) => order <= 0],
    ["_>_", "greater", (order) => order > 0],
    ["_>=_", "greater_equals", (order) => order >= 0],
  ];
  return holds.map(([name, id, isTrue]) => {
    const run: Implementation = (left, right) => {
      const order = compare(left, right);
      if (typeof order === "number") return isTrue(order);
      return isOrdered(left) ? order : noSuchOperator(name, left);
    };
    const same = ordered.map(([suffix, type]) => operator(`${id}_${suffix}`, [type, type], boolType, run));
    const mixed = isCrossType ? mixedNumbers.map(([suffix, left, right]) => operator(`${id}_${suffix}`, [left, right], boolType, run)) : [];
    return declare(name, ...same, ...mixed);
  });
}

function isOrdered(value: Value): boolean {
  return typeof compare(value, value) === "number";
}

const collections: FunctionDeclaration[] = [
  declare(
    "_[_]",
    overload("index_list", [listOfA, intType], itemA, select, { isUnguarded: true }),
    overload("index_map", [mapOfAB, itemA], itemB, select, { isUnguarded: true }),
  ),
  declare("@in", operator("in_list", [itemA, listOfA], boolType, isIn), operator("in_map", [itemA, mapOfAB], boolType, isIn)),
  declare("size", ...[bytesType, listOfA, mapOfAB, stringType].flatMap((type) => [sizeOverload(type, false), sizeOverload(type, true)])),
];

function sizeOverload(type: CelType, isMember: boolean): Overload {
  return overload(isMember ? `${type.kind}_size` : `size_${type.kind}`, [type], intType, size, { isMember, isUnguarded: true });
}

function size(value: Value): Value {
  const isSized = typeof value === "string" || value instanceof ListValue || value instanceof MapValue || value instanceof Uint8Array;
  return isSized ? sizeOf(value) : noSuchOperator("size", value);
}

function isIn(item: Value, container: Value): Value {
  if (container instanceof MapValue) return container.get(item) !== undefined;
  if (!(container instanceof ListValue)) return noSuchOverload;
  for (const each of container) if (isEqual(item, each)) return true;
  return false;
}

const conversions: FunctionDeclaration[] = [
  converts("bool", boolType, toBool, [
    ["bool_to_bool", boolType],
    ["string_to_bool", stringType],
  ]),
  converts("bytes", bytesType, toBytes, [
    ["bytes_to_bytes", bytesType],
    ["string_to_bytes", stringType],
  ]),
  converts("double", doubleType, toDouble, [
    ["double_to_double", doubleType],
    ["int64_to_double", intType],
    ["string_to_double", stringType],
    ["uint64_to_double", uintType],
  ]),
  converts("duration", durationType, toDuration, [
    ["duration_to_duration", durationType],
    ["string_to_duration", stringType],
  ]),
  declare(
    "dyn",
    overload("to_dyn", [itemA], dynType, (value) => value),
  ),
  converts("int", intType, toInt, [
    ["int64_to_int64", intType],
    ["double_to_int64", doubleType],
    ["duration_to_int64", durationType],
    ["string_to_int64", stringType],
    ["timestamp_to_int64", timestampType],
    ["uint64_to_int64", uintType],
  ]),
  converts("string", stringType, toText, [
    ["string_to_string", stringType],
    ["bool_to_string", boolType],
    ["bytes_to_string", bytesType],
    ["double_to_string", doubleType],
    ["duration_to_string", durationType],
    ["int64_to_string", intType],
    ["timestamp_to_string", timestampType],
    ["uint64_to_string", uintType],
  ]),
  converts("timestamp", timestampType, toTimestamp, [
    ["timestamp_to_timestamp", timestampType],
    ["int64_to_timestamp", intType],
    ["string_to_timestamp", stringType],
  ]),
  declare("type", overload("type", [itemA], typeType(itemA), toType)),
  converts("uint", uintType, toUint, [
    ["uint64_to_uint64", uintType],
    ["double_to_uint64", doubleType],
    ["int64_to_uint64", intType],
    ["string_to_uint64", stringType],
  ]),
];

function converts(name: string, result: CelType, convert: Implementation, from: ReadonlyArray<readonly [id: string, type: CelType]>): FunctionDeclaration {
  return declare(name, ...from.map(([id, type]) => overload(id, [type], result, (value) => convert(value))));
}

const texts: FunctionDeclaration[] = [
  declare(
    "contains",
    ofTexts("contains_string", true, (text, part) => text.includes(part)),
  ),
  declare(
    "endsWith",
    ofTexts("ends_with_string", true, (text, end) => text.endsWith(end)),
  ),
  declare(
    "startsWith",
    ofTexts("starts_with_string", true, (text, start) => text.startsWith(start)),
  ),
  declare("matches", ofTexts("matches", false, matchesPattern, checkPattern), ofTexts("matches_string", true, matchesPattern, checkPattern)),
];

function ofTexts(id: string, isMember: boolean, run: (left: string, right: string) => Value, checkConstants?: Overload["checkConstants"]): Overload {
  const implementation: Implementation = (left, right) => (typeof left === "string" && typeof right === "string" ? run(left, right) : noSuchOverload);
  return overload(id, [stringType, stringType], boolType, implementation, { isMember, isUnguarded: true, ...(checkConstants && { checkConstants }) });
}

const timeFields: ReadonlyArray<readonly [name: TimeField, id: string]> = [
  ["getFullYear", "year"],
  ["getMonth", "month"],
  ["getDayOfYear", "day_of_year"],
  ["getDayOfMonth", "day_of_month"],
  ["getDate", "day_of_month_1_based"],
  ["getDayOfWeek", "day_of_week"],
  ["getHours", "hours"],
  ["getMinutes", "minutes"],
  ["getSeconds", "seconds"],
  ["getMilliseconds", "milliseconds"],
];
const durationUnits: Partial<Record<TimeField, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

const times: FunctionDeclaration[] = timeFields.map(([name, id]) => {
  const unit = durationUnits[name];
  const ofDuration = memberOverload(`duration_to_${id}`, [durationType], intType, (duration) => Number((duration as Duration).nanos / (unit ?? 1n)));
  return declare(
    name,
    memberOverload(`timestamp_to_${id}`, [timestampType], intType, (time) => timeField(time as Timestamp, name)),
    memberOverload(`timestamp_to_${id}_with_tz`, [timestampType, stringType], intType, (time, zone) => timeField(time as Timestamp, name, zone as string)),
    ...(unit === undefined ? [] : [ofDuration]),
  );
});
