/** Estimates that list functions share. */
import type { CallEstimate, CostNode } from "./estimate.ts";
import { addCosts, fixedRange, multiplyRanges, timesFactor } from "./ranges.ts";
import type { Range } from "./ranges.ts";

/** A call that makes a list of `size`, working `factor` per item: one for the call, ten for the list. */
export function allocating(factor: number, size: Range): CallEstimate {
  return { cost: addCosts(timesFactor(size, factor), fixedRange(11)), resultSize: size };
}

/** A call that compares every item with every other. */
export function costOfSquare(factor: number, size: Range): CallEstimate {
  return allocating(factor, multiplyRanges(size, size));
}

/** A literal that is no negative number, or `otherwise`. */
export function constantOf(node: CostNode, otherwise: number): number {
  if (node.expr?.kind !== "literal" || (node.expr.value.type !== "int" && node.expr.value.type !== "uint")) return otherwise;
  return node.expr.value.value < 0n ? 0 : Number(node.expr.value.value);
}
