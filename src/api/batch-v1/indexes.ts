/** Lists of pod indexes as texts: `1,3-5,7`, in increasing order (API field JobStatus.completedIndexes). */

/** First and last index of each interval. */
export type Intervals = readonly (readonly [first: number, last: number])[];

/** The intervals of `text`, or what is wrong with it. Every index is below `completions`. */
export function parseIndexes(text: string, completions: number): { readonly intervals: Intervals } | { readonly fault: string } {
  if (text === "") return { intervals: [] };
  const intervals: [number, number][] = [];
  for (const fragment of text.split(",")) {
    const parsed = parseInterval(fragment, completions);
    if ("fault" in parsed) return parsed;
    const previous = intervals.at(-1)?.[1];
    if (previous !== undefined && previous >= parsed.interval[0])
      return { fault: `non-increasing order, previous: ${previous}, current: ${parsed.interval[0]}` };
    intervals.push(parsed.interval);
  }
  return { intervals };
}

export function countIndexes(intervals: Intervals): number {
  return intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** The first index that both lists have, or undefined. */
export function firstCommonIndex(left: Intervals, right: Intervals): number | undefined {
  let at = 0;
  for (const [first, last] of left) {
    while (at < right.length && right[at]![1] < first) at++;
    if (at < right.length && right[at]![0] <= last) return Math.max(first, right[at]![0]);
  }
  return undefined;
}

function parseInterval(fragment: string, completions: number): { readonly interval: [number, number] } | { readonly fault: string } {
  const limits = fragment.split("-");
  if (limits.length > 2)
    return { fault: `the fragment ${JSON.stringify(fragment)} violates the requirement that an index interval can have at most two parts separated by '-'` };
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^[+]?\d+$/.test(limit)) return { fault: `cannot convert string to integer for index: ${JSON.stringify(limit)}` };
    if (Number(limit) >= completions) return { fault: `too large index: ${JSON.stringify(limit)}` };
    numbers.push(Number(limit));
  }
  const [first, last = first] = numbers as [number, number?];
  if (limits.length === 2 && first >= last!) return { fault: `non-increasing order, previous: ${first}, current: ${last}` };
  return { interval: [first, last!] };
}
