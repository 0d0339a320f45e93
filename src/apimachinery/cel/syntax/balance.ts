import type { Expr } from "./ast.ts";

/** A chain of `&&` or `||` as a balanced tree, so that long chains stay shallow; `places[i]` is the operator between terms i and i + 1. */
export function balance(functionName: string, terms: readonly Expr[], places: readonly number[]): Expr {
  if (places.length === 0) return terms[0]!;
  const build = (low: number, high: number): Expr => {
    const middle = Math.floor((low + high + 1) / 2);
    const left = middle === low ? terms[middle]! : build(low, middle - 1);
    const right = middle === high ? terms[middle + 1]! : build(middle + 1, high);
    return { kind: "call", at: places[middle]!, functionName, args: [left, right] };
  };
  return build(0, places.length - 1);
}
