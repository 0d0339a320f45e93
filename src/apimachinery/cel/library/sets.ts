/** Lists as sets. */
import { declare, overload } from "../check/declarations.ts";
import type { OverloadCost } from "../check/declarations.ts";
import { boolType, listType, parameter } from "../check/types.ts";
import { addCosts, fixedRange, multiplyRanges, timesFactor } from "../cost/ranges.ts";
import type { Library } from "../environment.ts";
import { sizeOf } from "../eval/actual-cost.ts";
import { isEqual } from "../eval/compare.ts";
import type { ListValue, Value } from "../eval/values.ts";

const list = listType(parameter("T"));

/** Every item of the one side may be compared with every one of the other, `factor` times. */
function cost(factor: number): OverloadCost {
  return {
    actual: ([left, right]) => sizeOf(left!) * sizeOf(right!) * factor + 1,
    estimate: ({ sizeOf: size, args }) => ({ cost: addCosts(timesFactor(multiplyRanges(size(args[0]!), size(args[1]!)), factor), fixedRange(1)) }),
  };
}

export const setsLibrary: Library = {
  name: "sets",
  functions: [
    declare(
      "sets.contains",
      overload("list_sets_contains_list", [list, list], boolType, (all, some) => contains(all as ListValue, some as ListValue), { cost: cost(1) }),
    ),
    declare(
      "sets.equivalent",
      overload(
        "list_sets_equivalent_list",
        [list, list],
        boolType,
        (left, right) => contains(left as ListValue, right as ListValue) && contains(right as ListValue, left as ListValue),
        { cost: cost(2) },
      ),
    ),
    declare(
      "sets.intersects",
      overload("list_sets_intersects_list", [list, list], boolType, (left, right) => [...(right as ListValue)].some((each) => has(left as ListValue, each)), {
        cost: cost(1),
      }),
    ),
  ],
};

function contains(all: ListValue, some: ListValue): boolean {
  return [...some].every((each) => has(all, each));
}

function has(list: ListValue, wanted: Value): boolean {
  for (const each of list) if (isEqual(each, wanted)) return true;
  return false;
}
