/** Optional values: `optional.of(x)`, `a.?b`, `l[?0]`, `optMap`. */
import { declare, memberOverload, overload } from "../check/declarations.ts";
import type { FunctionDeclaration } from "../check/declarations.ts";
import { boolType, intType, listType, mapType, optionalType, parameter } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { select, selectOptional } from "../eval/select.ts";
import { ArrayList, CelError, Double, Duration, isInt, ListValue, MapValue, noSuchOverload, ObjectValue, Optional, Uint } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { MacroFault, Nodes } from "../syntax/macros.ts";
import type { Macro } from "../syntax/macros.ts";

const item = parameter("V");
const key = parameter("K");
const optional = optionalType(item);
const list = listType(item);
const map = mapType(key, item);
const unguarded = { isUnguarded: true };

const functions: FunctionDeclaration[] = [
  declare(
    "optional.of",
    overload("optional_of", [item], optional, (value) => new Optional(value)),
  ),
  declare(
    "optional.ofNonZeroValue",
    overload("optional_ofNonZeroValue", [item], optional, (value) => (isZero(value) ? Optional.none : new Optional(value))),
  ),
  declare(
    "optional.none",
    overload("optional_none", [], optional, () => Optional.none),
  ),
  declare(
    "value",
    memberOverload("optional_value", [optional], item, (value) => (value as Optional).value ?? new CelError("optional.none() dereference")),
  ),
  declare(
    "hasValue",
    memberOverload("optional_hasValue", [optional], boolType, (value) => (value as Optional).value !== undefined),
  ),
  // Evaluated by the planner: the other side is needed only sometimes.
  declare(
    "or",
    memberOverload("optional_or_optional", [optional, optional], optional, () => noSuchOverload),
  ),
  declare(
    "orValue",
    memberOverload("optional_orValue_value", [optional, item], item, () => noSuchOverload),
  ),
  declare(
    "_[?_]",
    overload("list_optindex_optional_int", [list, intType], optional, selectOptional, unguarded),
    overload("optional_list_optindex_optional_int", [optionalType(list), intType], optional, selectOptional, unguarded),
    overload("map_optindex_optional_value", [map, key], optional, selectOptional, unguarded),
    overload("optional_map_optindex_optional_value", [optionalType(map), key], optional, selectOptional, unguarded),
  ),
  declare(
    "_[_]",
    overload("optional_list_index_int", [optionalType(list), intType], optional, select, unguarded),
    overload("optional_map_index_value", [optionalType(map), key], optional, select, unguarded),
  ),
  declare(
    "first",
    memberOverload("list_first", [list], optional, (items) => endOf(items as ListValue, 0)),
  ),
  declare(
    "last",
    memberOverload("list_last", [list], optional, (items) => endOf(items as ListValue, (items as ListValue).size - 1)),
  ),
  declare("optional.unwrap", overload("optional_unwrap", [listType(optional)], list, unwrapAll)),
  declare("unwrapOpt", memberOverload("optional_unwrapOpt", [listType(optional)], list, unwrapAll)),
];

function endOf(items: ListValue, index: number): Value {
  return items.size === 0 ? Optional.none : new Optional(items.at(index));
}

function unwrapAll(optionals: Value): Value {
  const values: Value[] = [];
  for (const each of optionals as ListValue) {
    if (!(each instanceof Optional)) return noSuchOverload;
    if (each.value !== undefined) values.push(each.value);
  }
  return new ArrayList(values);
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === "" || value === 0) return true;
  if (isInt(value) || typeof value !== "object") return false;
  if (value instanceof Double) return value.value === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Optional) return value.value === undefined;
  return value instanceof ObjectValue && [...value.fieldNames()].length === 0;
}

/** `target.optMap(x, f(x))`: an optional of the result; `optFlatMap` has a result that is optional itself. */
function optionalMacro(name: "optMap" | "optFlatMap"): Macro {
  return {
    name,
    isMember: true,
    argCount: 2,
    expand({ at, target, args: [variable, result] }) {
      if (variable!.kind !== "ident") throw new MacroFault(variable!.at, `${name}() variable name must be a simple identifier`);
      const nodes = new Nodes(at);
      const mapped = nodes.bind(variable!.name, nodes.memberCall("value", target!), result!);
      return nodes.call(
        "_?_:_",
        nodes.memberCall("hasValue", target!),
        name === "optMap" ? nodes.call("optional.of", mapped) : mapped,
        nodes.call("optional.none"),
      );
    },
  };
}

export const optionalLibrary: Library = {
  name: "optional",
  functions,
  macros: [optionalMacro("optMap"), optionalMacro("optFlatMap")],
  types: new Map([["optional_type", optionalType(parameter("V"))]]),
};
