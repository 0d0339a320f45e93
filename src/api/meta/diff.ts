/**
 * Differences of two values as the unified diff of their indented JSON, without a file header, as refusals of a change show them. The
 * lines that count as common are those of Python's difflib (and its Go likeness): the longest run of equal lines, then the same to its
 * left and right, where lines that are very frequent do not start a run.
 */
import type { JsonValue } from "../../apimachinery/json.ts";

/** Empty when both print alike. */
export function jsonDiff(left: JsonValue, right: JsonValue): string {
  const before = JSON.stringify(left, null, 1).split("\n");
  const after = JSON.stringify(right, null, 1).split("\n");
  return hunksOf(editsOf(before, after))
    .map((hunk) => hunkText(hunk, before, after))
    .join("");
}

const contextLines = 3;
/** From this many lines on, lines that are more frequent than one in a hundred do not start a run. */
const manyLines = 200;

/** Lines `[left, leftEnd)` of the old text stand against `[right, rightEnd)` of the new one. */
interface Edit {
  readonly isEqual: boolean;
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
}

interface Run {
  readonly left: number;
  readonly right: number;
  readonly length: number;
}

function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let left = 0;
  let right = 0;
  for (const run of [...commonRuns(before, after), { left: before.length, right: after.length, length: 0 }]) {
    if (left < run.left || right < run.right) edits.push({ isEqual: false, left, leftEnd: run.left, right, rightEnd: run.right });
    left = run.left + run.length;
    right = run.right + run.length;
    if (run.length > 0) edits.push({ isEqual: true, left: run.left, leftEnd: left, right: run.right, rightEnd: right });
  }
  return edits;
}

/** Runs of common lines in order; runs that touch are one. */
function commonRuns(before: readonly string[], after: readonly string[]): Run[] {
  const places = placesOf(after);
  const found: Run[] = [];
  const pending = [{ left: 0, leftEnd: before.length, right: 0, rightEnd: after.length }];
  for (let area = pending.pop(); area !== undefined; area = pending.pop()) {
    const run = longestRun(before, after, places, area);
    if (run.length === 0) continue;
    found.push(run);
    pending.push({ left: area.left, leftEnd: run.left, right: area.right, rightEnd: run.right });
    pending.push({ left: run.left + run.length, leftEnd: area.leftEnd, right: run.right + run.length, rightEnd: area.rightEnd });
  }
  found.sort((a, b) => a.left - b.left);
  return found.reduce<Run[]>((merged, run) => {
    const last = merged.at(-1);
    if (last !== undefined && last.left + last.length === run.left && last.right + last.length === run.right)
      merged[merged.length - 1] = { ...last, length: last.length + run.length };
    else merged.push(run);
    return merged;
  }, []);
}

function placesOf(lines: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  lines.forEach((line, index) => {
    const list = places.get(line);
    if (list === undefined) places.set(line, [index]);
    else list.push(index);
  });
  if (lines.length < manyLines) return places;
  const most = Math.floor(lines.length / 100) + 1;
  for (const [line, list] of places) if (list.length > most) places.delete(line);
  return places;
}

/** The longest run within an area, the first of equals, made longer by frequent lines beside it. */
function longestRun(before: readonly string[], after: readonly string[], places: ReadonlyMap<string, readonly number[]>, area: Omit<Edit, "isEqual">): Run {
  let best: Run = { left: area.left, right: area.right, length: 0 };
  let lengths = new Map<number, number>();
  for (let index = area.left; index < area.leftEnd; index++) {
    const next = new Map<number, number>();
    for (const place of places.get(before[index]!) ?? []) {
      if (place < area.right) continue;
      if (place >= area.rightEnd) break;
      const length = (lengths.get(place - 1) ?? 0) + 1;
      next.set(place, length);
      if (length > best.length) best = { left: index - length + 1, right: place - length + 1, length };
    }
    lengths = next;
  }
  let { left, right, length } = best;
  while (left > area.left && right > area.right && before[left - 1] === after[right - 1]) [left, right, length] = [left - 1, right - 1, length + 1];
  while (left + length < area.leftEnd && right + length < area.rightEnd && before[left + length] === after[right + length]) length++;
  return { left, right, length };
}

/** Changes with the lines around them; what is further apart than twice the context falls into another hunk. */
function hunksOf(edits: readonly Edit[]): Edit[][] {
  if (!edits.some(({ isEqual }) => !isEqual)) return [];
  const hunks: Edit[][] = [];
  let hunk: Edit[] = [];
  edits.forEach((edit, index) => {
    const head = { ...edit, leftEnd: Math.min(edit.leftEnd, edit.left + contextLines), rightEnd: Math.min(edit.rightEnd, edit.right + contextLines) };
    const tail = { ...edit, left: Math.max(edit.left, edit.leftEnd - contextLines), right: Math.max(edit.right, edit.rightEnd - contextLines) };
    if (!edit.isEqual) hunk.push(edit);
    else if (index === 0) hunk.push(tail);
    else if (index === edits.length - 1) hunk.push(head);
    else if (edit.leftEnd - edit.left <= 2 * contextLines) hunk.push(edit);
    else {
      hunks.push([...hunk, head]);
      hunk = [tail];
    }
  });
  return [...hunks, hunk];
}

function hunkText(hunk: readonly Edit[], before: readonly string[], after: readonly string[]): string {
  const lines = hunk.flatMap(({ isEqual, left, leftEnd, right, rightEnd }) => {
    const old = before.slice(left, leftEnd);
    if (isEqual) return old.map((line) => ` ${line}\n`);
    return [...old.map((line) => `-${line}\n`), ...after.slice(right, rightEnd).map((line) => `+${line}\n`)];
  });
  const [first, last] = [hunk[0]!, hunk.at(-1)!];
  return `@@ -${rangeText(first.left, last.leftEnd)} +${rangeText(first.right, last.rightEnd)} @@\n${lines.join("")}`;
}

/** First line, from 1, and how many; a single line without its count. */
function rangeText(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}
