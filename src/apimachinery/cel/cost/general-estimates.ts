/** Estimates of the standard functions. */
import type { CallEstimate, EstimatedCall } from "./estimate.ts";
import { addCosts, fixedRange, maxCost, multiplyRanges, timesFactor, unionOf } from "./ranges.ts";
import type { Range } from "./ranges.ts";

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
const comparisons = /^(less|greater|less_equals|greater_equals)_(string|bytes)$/;

/** Of any call, the cost of its arguments included. */
export function generalEstimate(call: EstimatedCall, argCosts: readonly Range[]): CallEstimate {
  const { overloadId, args, target } = call;
  const own = (cost: Range, resultSize?: Range): CallEstimate => ({ cost: addCosts(cost, ...argCosts), ...(resultSize && { resultSize }) });
  const size = (index: number) => call.sizeOf(args[index]!);
  switch (overloadId) {
    case "string_format":
      return own(timesFactor(call.sizeOf(target!), perCharacter));
    case "string_to_bytes":
      return own(timesFactor(size(0), perCharacter), { min: size(0).min, max: Math.min(size(0).max * 4, maxCost) });
    case "bytes_to_string":
      return own(timesFactor(size(0), perCharacter), { min: Math.floor(size(0).min / 4), max: size(0).max });
    case "strings_quote":
      // The reference's sum wraps around, and limits depend on it.
      return own(timesFactor(size(0), perCharacter), { min: size(0).min + 2, max: size(0).max === maxCost ? 0 : (size(0).max * 2 + 2) % maxCost });
    case "starts_with_string":
    case "ends_with_string":
      return own(timesFactor(size(0), perCharacter));
    case "in_list":
      return own(size(1));
    case "matches_string":
      return own(matchingEstimate(call.sizeOf(target!), size(0)));
    case "contains_string":
      return own(multiplyRanges(timesFactor(call.sizeOf(target!), perCharacter), timesFactor(size(0), perCharacter)));
    case "logical_or":
    case "logical_and":
      return { cost: { min: argCosts[0]!.min, max: addCosts(...argCosts).max } };
    case "conditional":
      return { cost: addCosts(argCosts[0]!, unionOf(argCosts[1]!, argCosts[2]!)), resultSize: unionOf(size(1), size(2)) };
    case "add_string":
    case "add_bytes": {
      const sum = addCosts(size(0), size(1));
      return own(timesFactor(sum, perCharacter), sum);
    }
    case "add_list":
      return own(fixedRange(1), addCosts(size(0), size(1)));
    case "equals":
    case "not_equals":
      return own(comparisonEstimate(size(0), size(1)));
    default:
      return own(comparisons.test(overloadId) ? comparisonEstimate(size(0), size(1)) : fixedRange(1));
  }
}

export function matchingEstimate(text: Range, pattern: Range): Range {
  return multiplyRanges(timesFactor(addCosts(text, fixedRange(1)), perCharacter), timesFactor(pattern, perPatternCharacter));
}

function comparisonEstimate(left: Range, right: Range): Range {
  const max = Math.min(left.max, right.max);
  return timesFactor({ min: max > 0 ? 1 : 0, max }, perCharacter);
}
