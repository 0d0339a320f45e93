/** List functions of cel-go's extension, version 3: slices, flattening, sorting, ranges. */
import { declare, memberOverload, overload } from "../check/declarations.ts";
import type { FunctionDeclaration, OverloadCost } from "../check/declarations.ts";
import { dynType, intType, listType, parameter } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import { allocating, constantOf, costOfSquare } from "../cost/list-costs.ts";
import { fixedRange, maxCost } from "../cost/ranges.ts";
import type { Range } from "../cost/ranges.ts";
import type { Library } from "../environment.ts";
import { sizeOf } from "../eval/actual-cost.ts";
import { compare, isEqual } from "../eval/compare.ts";
import { ArrayList, CelError, ListValue, typeNameOf } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { mapFold, MacroFault, Nodes } from "../syntax/macros.ts";
import type { Macro } from "../syntax/macros.ts";
import { comparableTypes } from "./lists.ts";

const item = parameter("T");
const list = listType(item);
const maxRange = 1_000_000;

const actualOfResult: OverloadCost["actual"] = (_args, result) => sizeOf(result) + 11;
const flattenCost: OverloadCost = {
  actual: ([items, depth]) => sizeOf(items!) * (typeof depth === "number" && depth >= 0 ? depth : 1) + 11,
  estimate: ({ sizeOf: size, target, args }) => allocating(args.length === 0 ? 1 : constantOf(args[0]!, Infinity), size(target!)),
};

const functions: FunctionDeclaration[] = [
  declare(
    "slice",
    memberOverload("list_slice", [list, intType, intType], list, (items, start, end) => slice(items as ListValue, Number(start), Number(end)), {
      cost: {
        actual: actualOfResult,
        estimate: ({ sizeOf: size, target, args }) => allocating(1, sliceSize(constantOf(args[0]!, 0), constantOf(args[1]!, size(target!).max))),
      },
    }),
  ),
  declare(
    "flatten",
    memberOverload("list_flatten", [listType(list)], list, (items) => flatten(items as ListValue, 1), { isUnguarded: true, cost: flattenCost }),
    memberOverload("list_flatten_int", [listType(dynType), intType], listType(dynType), (items, depth) => flatten(items as ListValue, Number(depth)), {
      isUnguarded: true,
      cost: flattenCost,
    }),
  ),
  declare(
    "sort",
    ...comparableTypes.map(([name, type]) =>
      memberOverload(`list_${typeId(name)}_sort`, [listType(type)], listType(type), sortAny, { isUnguarded: true, cost: sortCost(type, false) }),
    ),
  ),
  declare(
    "@sortByAssociatedKeys",
    ...comparableTypes.map(([name, type]) =>
      memberOverload(`list_${typeId(name)}_sortByAssociatedKeys`, [list, listType(type)], list, sortByKeys, { isUnguarded: true, cost: sortCost(type, true) }),
    ),
  ),
  declare(
    "lists.range",
    overload("lists_range", [intType], listType(intType), (count) => range(Number(count)), {
      cost: { actual: actualOfResult, estimate: ({ args }) => allocating(1, fixedRange(constantOf(args[0]!, Infinity))) },
    }),
  ),
  declare(
    "reverse",
    memberOverload("list_reverse", [list], list, (items) => new ArrayList([...(items as ListValue)].reverse()), {
      cost: { actual: actualOfResult, estimate: ({ sizeOf: size, target }) => allocating(1, size(target!)) },
    }),
  ),
  declare(
    "distinct",
    memberOverload("list_distinct", [list], list, (items) => distinct(items as ListValue), {
      cost: { actual: ([items]) => selfComparison(items!), estimate: ({ sizeOf: size, target }) => costOfSquare(2, size(target!)) },
    }),
  ),
];

/** `list.sortBy(x, key(x))`: sorts by the list of keys; the list is evaluated once. */
const sortBy: Macro = {
  name: "sortBy",
  isMember: true,
  argCount: 2,
  expand({ at, target, args }) {
    const kinds = ["list", "select", "ident", "comprehension", "call"];
    if (!kinds.includes(target!.kind))
      throw new MacroFault(target!.at, "sortBy can only be applied to a list, identifier, comprehension, call or select expression");
    const nodes = new Nodes(at);
    const input = "@__sortBy_input__";
    return nodes.bind(input, target!, nodes.memberCall("@sortByAssociatedKeys", nodes.ident(input), mapFold(nodes, nodes.ident(input), args)));
  },
};

export const extendedListsLibrary: Library = { name: "extended lists", functions, macros: [sortBy] };

/** A slice that ends before it starts may have any size. */
function sliceSize(start: number, end: number): Range {
  return fixedRange(end < start ? maxCost : end - start);
}

function typeId(name: string): string {
  return name === "duration" || name === "timestamp" ? `google.protobuf.${name === "duration" ? "Duration" : "Timestamp"}` : name;
}

function sortCost(type: CelType, isByKeys: boolean): OverloadCost {
  const factor = type.kind === "string" || type.kind === "bytes" ? 2.1 : 2;
  return {
    actual: ([items, keys]) => selfComparison(isByKeys ? keys! : items!),
    estimate: ({ sizeOf: size, target, args }) => costOfSquare(factor, size(isByKeys ? args[0]! : target!)),
  };
}

function selfComparison(items: Value): number {
  const size = sizeOf(items);
  const first = items instanceof ListValue && items.size > 0 ? items.at(0) : undefined;
  const factor = typeof first === "string" || first instanceof Uint8Array ? 2.1 : 2;
  return Math.trunc(size * size * factor) + 11;
}

function slice(items: ListValue, start: number, end: number): Value {
  const fault = (reason: string) => new CelError(`cannot slice(${start}, ${end}), ${reason}`);
  if (start < 0 || end < 0) return fault("negative indexes not supported");
  if (start > end) return fault("start index must be less than or equal to end index");
  if (items.size < end) return fault(`list is length ${items.size}`);
  return new ArrayList(Array.from({ length: end - start }, (_, index) => items.at(start + index)));
}

function flatten(items: Value, depth: number): Value {
  if (!(items instanceof ListValue)) return new CelError(`no such overload: ${typeNameOf(items)}.flatten()`);
  if (depth < 0) return new CelError("level must be non-negative");
  const flat: Value[] = [];
  const pending: [list: ListValue, next: number, depth: number][] = [[items, 0, depth]];
  for (let top = pending.at(-1); top !== undefined; top = pending.at(-1)) {
    const [current, next, left] = top;
    if (next >= current.size) {
      pending.pop();
      continue;
    }
    top[1]++;
    const each = current.at(next);
    if (each instanceof ListValue && left > 0) pending.push([each, 0, left - 1]);
    else flat.push(each);
  }
  return new ArrayList(flat);
}

function sortAny(items: Value): Value {
  return sortByKeys(items, items);
}

function sortByKeys(items: Value, keys: Value): Value {
  if (!(items instanceof ListValue) || !(keys instanceof ListValue)) return new CelError("no such overload: sort");
  if (items.size !== keys.size)
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${items.size} and ${keys.size} elements respectively`,
    );
  if (items.size === 0) return items;
  const all = [...keys];
  if (typeof compare(all[0]!, all[0]!) !== "number") return new CelError("list elements must be comparable");
  const type = typeNameOf(all[0]!);
  if (all.length > 1 && all.some((key) => typeNameOf(key) !== type)) return new CelError("list elements must have the same type");
  const order = all.map((_, index) => index).sort((left, right) => compare(all[left]!, all[right]!) as number);
  return new ArrayList(order.map((index) => items.at(index)));
}

function range(count: number): Value {
  if (count < 0) return new CelError(`lists.range: size must be non-negative, got ${count}`);
  if (count > maxRange) return new CelError(`lists.range: size ${count} exceeds maximum allowed (${maxRange})`);
  return new ArrayList(Array.from({ length: count }, (_, index) => index));
}

function distinct(items: ListValue): Value {
  const unique: Value[] = [];
  for (const each of items) if (!unique.some((known) => isEqual(known, each))) unique.push(each);
  return new ArrayList(unique);
}
