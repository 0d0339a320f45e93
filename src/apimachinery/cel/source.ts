/** Expression text, positions in it, and faults as cel-go shows them: `ERROR: <input>:1:5: message`, the line, and a pointer under the column. */

/** A fault of an expression. */
export interface CelIssue {
  /** UTF-16 offset in the text; -1 when the fault has no place. */
  readonly offset: number;
  readonly message: string;
}

/** Offset of faults that belong to no place: they are shown at `-1:0`. */
export const noOffset = -1;

const maxIssues = 100;

/** The faults as one text, ordered by place: the first hundred that were found, and a count of the rest. */
export function formatIssues(text: string, issues: readonly CelIssue[]): string {
  const lines = new Lines(text);
  const placed = issues.slice(0, maxIssues).map((issue) => ({ issue, ...lines.place(issue.offset) }));
  placed.sort((a, b) => a.line - b.line || a.column - b.column);
  const shown = placed.map(({ issue, line, column }) => `ERROR: <input>:${line}:${column + 1}: ${issue.message}${snippet(lines, line, column)}`);
  if (issues.length > maxIssues) shown.push(`${issues.length - maxIssues} more errors were truncated`);
  return shown.join("\n");
}

/** Number of code points, which is how CEL measures texts. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if (isSurrogatePair(text, index)) {
      length--;
      index++;
    }
  }
  return length;
}

export function isSurrogatePair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
}

class Lines {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  /** Line from 1, column in code points from 0. */
  place(offset: number): { line: number; column: number } {
    if (offset < 0) return { line: -1, column: -1 };
    if (this.#text === "") return { line: 1, column: -1 };
    let line = this.#starts.length;
    while (line > 1 && this.#starts[line - 1]! > offset) line--;
    return { line, column: codePointLength(this.#text.slice(this.#starts[line - 1], offset)) };
  }

  line(number: number): string | undefined {
    if (this.#text === "" || number < 1) return undefined;
    const end = this.#starts[number];
    return this.#text.slice(this.#starts[number - 1], end === undefined ? undefined : end - 1);
  }
}

/** Wide characters get wide dots, so that the pointer stands below its character. */
function snippet(lines: Lines, line: number, column: number): string {
  const text = lines.line(line)?.replaceAll("\t", " ");
  if (text === undefined) return "";
  const characters = [...text];
  const before = characters.slice(0, Math.max(column, 0)).map((character) => (isWide(character) ? "．" : "."));
  const pointer = isWide(characters[column] ?? "") ? "＾" : "^";
  return `\n | ${text}\n | ${before.join("")}${pointer}`;
}

function isWide(character: string): boolean {
  return character !== "" && character.codePointAt(0)! > 0x7f;
}
