/** Ranges of sizes and costs. Whatever would exceed 64 bits is the largest such number. */

export interface Range {
  readonly min: number;
  readonly max: number;
}

export const maxCost = 2 ** 64;
export const unknownSize: Range = { min: 0, max: maxCost };

export function fixedRange(value: number): Range {
  const capped = Math.min(value, maxCost);
  return { min: capped, max: capped };
}

export function addCosts(...ranges: readonly Range[]): Range {
  let min = 0;
  let max = 0;
  for (const range of ranges) {
    min += range.min;
    max += range.max;
  }
  return { min: Math.min(min, maxCost), max: Math.min(max, maxCost) };
}

export function multiplyRanges(left: Range, right: Range): Range {
  return { min: Math.min(left.min * right.min, maxCost), max: Math.min(left.max * right.max, maxCost) };
}

/** Rounded up. */
export function timesFactor(range: Range, factor: number): Range {
  return { min: Math.min(Math.ceil(range.min * factor), maxCost), max: Math.min(Math.ceil(range.max * factor), maxCost) };
}

export function unionOf(left: Range, right: Range): Range {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}
