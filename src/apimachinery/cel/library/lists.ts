/** Kubernetes' list functions. */
import { declare, memberOverload } from "../check/declarations.ts";
import type { FunctionDeclaration, Overload } from "../check/declarations.ts";
import { boolType, bytesType, doubleType, durationType, intType, listType, parameter, stringType, timestampType, uintType } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { add } from "../eval/arithmetic.ts";
import { compare, isEqual } from "../eval/compare.ts";
import { CelError, Double, Duration, isCelError, noSuchOverload, Uint } from "../eval/values.ts";
import type { ListValue, Value } from "../eval/values.ts";

export const comparableTypes: ReadonlyArray<readonly [name: string, type: CelType]> = [
  ["int", intType],
  ["uint", uintType],
  ["double", doubleType],
  ["bool", boolType],
  ["duration", durationType],
  ["timestamp", timestampType],
  ["string", stringType],
  ["bytes", bytesType],
];
const summable: ReadonlyArray<readonly [name: string, type: CelType, zero: Value]> = [
  ["int", intType, 0],
  ["uint", uintType, new Uint(0n)],
  ["double", doubleType, new Double(0)],
  ["duration", durationType, new Duration(0n)],
];
const item = parameter("A");

const functions: FunctionDeclaration[] = [
  declare("isSorted", ...comparableTypes.map(([name, type]) => memberOverload(`list_${name}_is_sorted_bool`, [listType(type)], boolType, isSorted))),
  declare(
    "sum",
    ...summable.map(([name, type, zero]) => memberOverload(`list_${name}_sum_${name}`, [listType(type)], type, (list) => sum(list as ListValue, zero))),
  ),
  declare("max", ...extremes("max", (order) => order > 0)),
  declare("min", ...extremes("min", (order) => order < 0)),
  declare(
    "indexOf",
    memberOverload("list_a_index_of_int", [listType(item), item], intType, (list, wanted) => indexOf(list as ListValue, wanted)),
  ),
  declare(
    "lastIndexOf",
    memberOverload("list_a_last_index_of_int", [listType(item), item], intType, (list, wanted) => lastIndexOf(list as ListValue, wanted)),
  ),
];

export const listsLibrary: Library = { name: "lists", functions };

function extremes(name: string, isBetter: (order: number) => boolean): Overload[] {
  return comparableTypes.map(([typeName, type]) =>
    memberOverload(`list_${typeName}_${name}_${typeName}`, [listType(type)], type, (list) => extreme(list as ListValue, name, isBetter)),
  );
}

function isSorted(list: Value): Value {
  let previous: Value | undefined;
  for (const each of list as ListValue) {
    const order = previous === undefined ? 0 : compare(previous, each);
    if (typeof order !== "number") return order;
    if (order > 0) return false;
    previous = each;
  }
  return true;
}

function sum(list: ListValue, zero: Value): Value {
  let total = zero;
  for (const each of list) {
    total = add(total, each);
    if (isCelError(total)) return total;
  }
  return total;
}

function extreme(list: ListValue, name: string, isBetter: (order: number) => boolean): Value {
  if (list.size === 0) return new CelError(`${name} called on empty list`);
  let best = list.at(0);
  for (const each of list) {
    const order = compare(each, best);
    if (typeof order !== "number") return noSuchOverload;
    if (isBetter(order)) best = each;
  }
  return best;
}

function indexOf(list: ListValue, wanted: Value): Value {
  for (let index = 0; index < list.size; index++) if (isEqual(list.at(index), wanted)) return index;
  return -1;
}

function lastIndexOf(list: ListValue, wanted: Value): Value {
  for (let index = list.size - 1; index >= 0; index--) if (isEqual(list.at(index), wanted)) return index;
  return -1;
}
