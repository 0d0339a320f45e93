/** Differences of two values as the unified diff of their indented JSON, without the file header, as refusals of a change show them. */
import type { JsonValue } from "../../apimachinery/json.ts";

const contextLines = 3;

/** Empty when both print alike. */
export function jsonDiff(left: JsonValue, right: JsonValue): string {
  const before = JSON.stringify(left, null, 1).split("\n");
  const after = JSON.stringify(right, null, 1).split("\n");
  return hunksOf(editsOf(before, after)).map(hunkText).join("");
}

interface Edit {
  readonly sign: " " | "-" | "+";
  readonly text: string;
  /** Line numbers, from 0, in both texts at this edit. */
  readonly left: number;
  readonly right: number;
}

/** Shortest edit script by longest common subsequence, over what is left after the common ends are cut off. */
function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const edits: Edit[] = [];
  let left = 0;
  let right = 0;
  const keep = () => edits.push({ sign: " ", text: before[left]!, left: left++, right: right++ });
  const remove = () => edits.push({ sign: "-", text: before[left]!, left: left++, right });
  const add = () => edits.push({ sign: "+", text: after[right]!, left, right: right++ });
  while (left < head) keep();
  const common = commonLengths(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  while (left < before.length - tail || right < after.length - tail) {
    const rest = common[left - head]!;
    if (left < before.length - tail && right < after.length - tail && before[left] === after[right]) keep();
    else if (left < before.length - tail && (right >= after.length - tail || common[left - head + 1]![right - head]! >= rest[right - head + 1]!)) remove();
    else add();
  }
  while (left < before.length) keep();
  return removalsFirst(edits);
}

/** `lengths[i][j]`: length of the longest common subsequence of the texts from i and from j on. */
function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i]![j] = before[i] === after[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}

/** Within a run of changes removed lines stand before added ones. */
function removalsFirst(edits: readonly Edit[]): Edit[] {
  const ordered: Edit[] = [];
  for (let start = 0; start < edits.length; ) {
    let end = start;
    while (end < edits.length && (edits[end]!.sign === " ") === (edits[start]!.sign === " ")) end++;
    const run = edits.slice(start, end);
    ordered.push(...run.filter(({ sign }) => sign !== "+"), ...run.filter(({ sign }) => sign === "+"));
    start = end;
  }
  return ordered;
}

function hunksOf(edits: readonly Edit[]): Edit[][] {
  const hunks: Edit[][] = [];
  let end = -1;
  edits.forEach(({ sign }, index) => {
    if (sign === " ") return;
    const first = Math.max(0, index - contextLines);
    if (hunks.length > 0 && first <= end) hunks.at(-1)!.push(...edits.slice(end, Math.min(edits.length, index + contextLines + 1)));
    else hunks.push(edits.slice(first, index + contextLines + 1));
    end = Math.min(edits.length, index + contextLines + 1);
  });
  return hunks;
}

function hunkText(hunk: readonly Edit[]): string {
  const count = (sign: string) => hunk.filter((edit) => edit.sign !== sign).length;
  const first = hunk[0]!;
  return `@@ -${first.left + 1},${count("+")} +${first.right + 1},${count("-")} @@\n${hunk.map(({ sign, text }) => `${sign}${text}\n`).join("")}`;
}
