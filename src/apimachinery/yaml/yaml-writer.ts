/**
 * JSON values as YAML text, in the style of Kubernetes' answers: members sorted, lists not indented below their key, text that YAML 1.1
 * would read as something else quoted. Walks with an explicit stack: nesting may be deep.
 */
import { isObject, isRawNumber } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** The document with a final line feed. */
export function jsonToYaml(root: JsonValue): string {
  const out: string[] = [];
  const pending: Work[] = [{ value: root, indent: 0, place: "start" }];
  for (let work = pending.pop(); work !== undefined; work = pending.pop()) {
    if (typeof work === "string") out.push(work);
    else pending.push(...write(work, out).reverse());
  }
  return out.join("");
}

/** Where a value stands: at a line's start, behind `key:`, or behind `- `. Text items are printed as they are. */
type Work = string | { readonly value: JsonValue; readonly indent: number; readonly place: "start" | "key" | "item" };

function write(work: Exclude<Work, string>, out: string[]): Work[] {
  const { value, indent, place } = work;
  const lead = place === "key" ? " " : "";
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${lead}[]\n`];
    if (place === "key") out.push("\n");
    return value.flatMap((item, index): Work[] => [
      `${index === 0 && place !== "key" ? "" : spaces(indent)}- `,
      { value: item, indent: indent + 2, place: "item" },
    ]);
  }
  if (isObject(value)) return writeObject(value, work, out);
  return [`${lead}${scalarText(value, indent, place === "start" ? 0 : column(out) + lead.length)}\n`];
}

function writeObject(value: JsonObject, { indent, place }: Exclude<Work, string>, out: string[]): Work[] {
  const keys = Object.keys(value).sort(compareKeys);
  if (keys.length === 0) return [`${place === "key" ? " " : ""}{}\n`];
  if (place === "key") out.push("\n");
  return keys.flatMap((key, index): Work[] => {
    const member = value[key]!;
    const own = index === 0 && place !== "key" ? "" : spaces(indent);
    if (!isSimpleKey(key))
      return [`${own}? ${scalarText(key, indent + 2, indent + 2)}\n${spaces(indent)}: `, { value: member, indent: indent + 2, place: "item" }];
    // A list stands at the indentation of its key.
    const childIndent = Array.isArray(member) ? indent : indent + 2;
    return [`${own}${textScalar(key, indent)}:`, { value: member, indent: childIndent, place: "key" }];
  });
}

/** Keys that are long or have several lines stand behind a question mark. */
function isSimpleKey(key: string): boolean {
  return Buffer.byteLength(key) <= 128 && !/[\n\r\u0085\u2028\u2029]/.test(key);
}

const spaces = (count: number) => " ".repeat(count);

/** Keys sort with runs of digits compared as numbers and letters before other characters, as Go's YAML encoder sorts them. */
function compareKeys(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  let inDigits = false;
  for (let index = 0; index < a.length && index < b.length; index++) {
    const [x, y] = [a[index]!, b[index]!];
    if (x === y) {
      inDigits = isDigit(x);
      continue;
    }
    const [xLetter, yLetter] = [isLetter(x), isLetter(y)];
    if (xLetter && yLetter) return x < y ? -1 : 1;
    if (xLetter || yLetter) return (inDigits ? xLetter : yLetter) ? -1 : 1;
    const [xNumber, yNumber] = [digitsAt(left, index), digitsAt(right, index)];
    if (xNumber !== undefined && yNumber !== undefined && xNumber !== yNumber) return xNumber - yNumber;
    return x < y ? -1 : 1;
  }
  return a.length - b.length;
}

const isDigit = (character: string) => character >= "0" && character <= "9";
const isLetter = (character: string) => /\p{L}/u.test(character);

function digitsAt(text: string, index: number): number | undefined {
  const digits = /^\d+/.exec(text.slice(index))?.[0];
  return digits === undefined ? undefined : Number(digits);
}

/** Where the line that is being written has come to. */
function column(out: readonly string[]): number {
  let length = 0;
  for (let index = out.length - 1; index >= 0; index--) {
    const text = out[index]!;
    const lineStart = text.lastIndexOf("\n") + 1;
    length += text.length - lineStart;
    if (lineStart > 0) break;
  }
  return length;
}

/** Lines are broken at the first single blank behind this column. */
const bestWidth = 80;

/** A plain or quoted scalar that begins in column `start`, broken into lines where it is long; keys (no `start`) are not. */
function folded(text: string, indent: number, start: number | undefined): string {
  if (start === undefined || start + text.length <= bestWidth) return text;
  let at = start;
  let result = "";
  for (let index = 0; index < text.length; index++) {
    const isBlank = text[index] === " ";
    if (isBlank && at > bestWidth && index > 0 && index < text.length - 1 && text[index - 1] !== " " && text[index + 1] !== " ") {
      result += `\n${spaces(indent)}`;
      at = indent;
    } else {
      result += text[index];
      at++;
    }
  }
  return result;
}

function scalarText(value: Exclude<JsonValue, JsonValue[] | JsonObject>, indent: number, start: number): string {
  if (value === null) return "null";
  if (typeof value === "string") return textScalar(value, indent, start);
  return typeof value === "boolean" ? String(value) : numberText(isRawNumber(value) ? value.rawJSON : String(value));
}

/** Go's encoder reads the JSON number first: integers of 64 bits stay, all else is a float in its shortest form, with an exponent from a million on. */
function numberText(text: string): string {
  if (/^-?\d+$/.test(text)) {
    const integer = BigInt(text);
    if (integer >= -(2n ** 63n) && integer < 2n ** 64n) return String(integer);
  }
  const number = Number(text);
  const [digits, exponent] = number.toExponential().split("e") as [string, string];
  if (Number(exponent) >= -4 && Number(exponent) < 6) return Object.is(number, -0) ? "-0" : String(number);
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** Text that YAML 1.1 reads as null, a boolean, a number or a time. */
const misread =
  /^(~|null|Null|NULL|y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|<<|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN|[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|\d[\d_]*(:[0-5]?\d)*(\.[\d_]*)?([eE][-+]?\d+)?|\.\d[\d_]*([eE][-+]?\d+)?)|\d{4}-\d\d?-\d\d?([Tt ].*)?|)$/;

/** Characters that a plain scalar cannot begin with, and sequences that end one. */
const unsafeStart = /^[-?:](\s|$)|^[,[\]{}#&*!|>'"%@`]|^---|^\.\.\./;
const unsafeInside = /:(\s|$)|\s#|[\t]|^\s|\s$/;

function textScalar(text: string, indent: number, start?: number): string {
  if (misread.test(text)) return JSON.stringify(text);
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff\ud800-\udfff\u2028\u2029]/.test(text)) return escaped(text);
  if (text.includes("\n")) return /^[ \n\t]/.test(text) && text.trim() === "" ? escaped(text) : literal(text, indent);
  if (unsafeStart.test(text) || unsafeInside.test(text)) return folded(`'${text.replaceAll("'", "''")}'`, indent, start);
  return folded(text, indent, start);
}

function escaped(text: string): string {
  const inner = text.replace(
    /["\\\u0000-\u001f\u007f-\u00a0\ufeff\u2028\u2029\u{10000}-\u{10ffff}]/gu,
    (character) => escapes[character] ?? numericEscape(character.codePointAt(0)!),
  );
  return `"${inner}"`;
}

const escapes: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\u0007": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\u001b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\u0085": "\\N",
  "\u00a0": "\\_",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

function numericEscape(code: number): string {
  const digits = code.toString(16).toUpperCase();
  if (code > 0xffff) return `\\U${digits.padStart(8, "0")}`;
  return code > 0xff ? `\\u${digits.padStart(4, "0")}` : `\\x${digits.padStart(2, "0")}`;
}

/** A block scalar; its indicator tells what follows the last line. */
function literal(text: string, indent: number): string {
  const chomping = text.endsWith("\n\n") ? "+" : text.endsWith("\n") ? "" : "-";
  const hint = /^[ \n]/.test(text) ? "2" : "";
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  const lines = body.split("\n").map((line) => (line === "" ? "" : spaces(Math.max(indent, 2)) + line));
  return `|${hint}${chomping}\n${lines.join("\n")}`;
}
