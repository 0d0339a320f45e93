/** Macros with a variable for the index or key and one for the item or value, and those that make lists and maps of them. */
import { declare, overload } from "../check/declarations.ts";
import { mapType, parameter } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { showKey } from "../eval/select.ts";
import { CelError, GrowingMap, hashOf, mapOf } from "../eval/values.ts";
import type { MapItem, MapValue, Value } from "../eval/values.ts";
import type { Expr } from "../syntax/ast.ts";
import { MacroFault, Nodes, quantifierSteps, variableName } from "../syntax/macros.ts";
import type { Macro, MacroCall } from "../syntax/macros.ts";

const mapOfKV = mapType(parameter("K"), parameter("V"));

export const twoVariableLibrary: Library = {
  name: "two-variable comprehensions",
  macros: [
    quantifier("all", "all"),
    quantifier("exists", "exists"),
    quantifier("existsOne", "existsOne"),
    quantifier("exists_one", "existsOne"),
    ...transformation(
      "transformList",
      (nodes) => nodes.list(),
      (nodes, [, , ...rest]) => nodes.call("_+_", nodes.accumulator(), nodes.list(rest.at(-1)!)),
    ),
    ...transformation(
      "transformMap",
      (nodes) => nodes.map(),
      (nodes, [key, , ...rest]) => nodes.call("cel.@mapInsert", nodes.accumulator(), key!, rest.at(-1)!),
    ),
    ...transformation(
      "transformMapEntry",
      (nodes) => nodes.map(),
      (nodes, [, , ...rest]) => nodes.call("cel.@mapInsert", nodes.accumulator(), rest.at(-1)!),
    ),
  ],
  functions: [
    declare(
      "cel.@mapInsert",
      overload("@mapInsert_map_map", [mapOfKV, mapOfKV], mapOfKV, insertMap),
      overload("@mapInsert_map_key_value", [mapOfKV, parameter("K"), parameter("V")], mapOfKV, (map, key, value) => insert(map as MapValue, [[key, value]])),
    ),
  ],
};

function quantifier(name: string, step: keyof typeof quantifierSteps): Macro {
  return {
    name,
    isMember: true,
    argCount: 3,
    expand(call) {
      const nodes = new Nodes(call.at);
      return nodes.fold({ iterRange: call.target!, ...variablesOf(call), ...quantifierSteps[step](nodes, call.args[2]!) });
    },
  };
}

/** With three arguments for every item, with four for those that the third holds of. */
function transformation(name: string, start: (nodes: Nodes) => Expr, step: (nodes: Nodes, args: readonly Expr[]) => Expr): Macro[] {
  return [3, 4].map((argCount) => ({
    name,
    isMember: true,
    argCount,
    expand(call: MacroCall) {
      const nodes = new Nodes(call.at);
      const once = step(nodes, call.args);
      const loopStep = argCount === 4 ? nodes.call("_?_:_", call.args[2]!, once, nodes.accumulator()) : once;
      return nodes.fold({ iterRange: call.target!, ...variablesOf(call), accuInit: start(nodes), loopCondition: nodes.bool(true), loopStep });
    },
  }));
}

function variablesOf({ args }: MacroCall): { iterVar: string; iterVar2: string } {
  const iterVar = variableName(args[0]!, "argument must be a simple name");
  const iterVar2 = variableName(args[1]!, "argument must be a simple name");
  if (iterVar === iterVar2) throw new MacroFault(args[1]!.at, `duplicate variable name: ${iterVar}`);
  return { iterVar, iterVar2 };
}

function insertMap(map: Value, added: Value): Value {
  const items: MapItem[] = [];
  for (const key of (added as MapValue).keys()) items.push([key, (added as MapValue).get(key)!]);
  return insert(map as MapValue, items);
}

function insert(map: MapValue, items: readonly MapItem[]): Value {
  for (const [key] of items) if (map.get(key) !== undefined) return new CelError(`insert failed: key ${showKey(key)} already exists`);
  if (map instanceof GrowingMap) {
    for (const item of items) map.growing.set(hashOf(item[0]), item);
    return map;
  }
  return mapOf([...[...map.keys()].map((key): MapItem => [key, map.get(key)!]), ...items]);
}
