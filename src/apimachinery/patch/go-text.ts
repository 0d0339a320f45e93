/** How Go prints decoded JSON: what patch errors show of a value. */
import { isRawNumber } from "../json.ts";
import type { JsonValue } from "../json.ts";

/** `%v` of a value: `map[a:1 b:[x <nil>]]`, keys sorted. Does not recurse. */
export function goText(value: unknown): string {
  let text = "";
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (next instanceof Literal) text += next.text;
    else if (Array.isArray(next)) pending.push(new Literal("]"), ...spaced(next.map((item) => [item])).reverse(), new Literal("["));
    else if (isRawNumber(next)) text += next.rawJSON;
    else if (typeof next === "object" && next !== null) pending.push(new Literal("]"), ...spaced(members(next as Record<string, unknown>)).reverse(), new Literal("map["));
    else text += scalarText(next);
  }
  return text;
}

/** The word for a value's kind in Go's reflection: `string`, `map`, `slice`, `bool`, `int64`, `float64`. */
export function goKind(value: JsonValue): string {
  if (Array.isArray(value)) return "slice";
  if (isRawNumber(value)) return /[.eE]/.test(value.rawJSON) ? "float64" : "int64";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "map";
}

/** The word that JSON decoding errors use: `array`, `object`, `string`, `number`, `bool`. */
export function jsonKind(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" || isRawNumber(value)) return "number";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "object";
}

class Literal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function members(object: Record<string, unknown>): unknown[][] {
  return Object.keys(object)
    .sort()
    .map((key) => [new Literal(`${key}:`), object[key]]);
}

function spaced(parts: unknown[][]): unknown[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [new Literal(" "), ...part]));
}

function scalarText(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number" && !Number.isInteger(value)) return floatText(value);
  return String(value);
}

/** Go's `%v` of a float64: exponent form below 1e-4 and from 1e21 on, at least two exponent digits. */
function floatText(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e21) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}
