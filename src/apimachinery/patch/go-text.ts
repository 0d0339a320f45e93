/** How Go prints decoded JSON: what patch errors show of a value. */
import { isRawNumber } from "../json.ts";
import type { JsonValue } from "../json.ts";

/** `%v` of a value: `map[a:1 b:[x <nil>]]`, keys sorted. */
export function goText(value: unknown): string {
  return print(value, plain);
}

/** `%#v` of a value: `map[string]interface {}{"a":1, "b":[]interface {}{"x", interface {}(nil)}}`. */
export function goSyntax(value: unknown): string {
  return print(value, syntax);
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

interface Style {
  readonly list: readonly [open: string, close: string];
  readonly map: readonly [open: string, close: string];
  readonly separator: string;
  readonly key: (name: string) => string;
  readonly scalar: (value: unknown) => string;
}

const plain: Style = { list: ["[", "]"], map: ["map[", "]"], separator: " ", key: (name) => name, scalar: scalarText };
const syntax: Style = {
  list: ["[]interface {}{", "}"],
  map: ["map[string]interface {}{", "}"],
  separator: ", ",
  key: (name) => JSON.stringify(name),
  scalar: (value) => (typeof value === "string" ? JSON.stringify(value) : value === null || value === undefined ? "interface {}(nil)" : scalarText(value)),
};

/** A piece of the output, as opposed to a value that is still to be printed. */
class Literal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Does not recurse: values may be nested to any depth. */
function print(value: unknown, style: Style): string {
  let text = "";
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (next instanceof Literal) text += next.text;
    else if (Array.isArray(next))
      push(
        pending,
        style.list,
        next.map((item: unknown) => [item]),
        style,
      );
    else if (typeof next === "object" && next !== null && !isRawNumber(next)) push(pending, style.map, members(next as Record<string, unknown>, style), style);
    else text += isRawNumber(next) ? next.rawJSON : style.scalar(next);
  }
  return text;
}

/** Puts the parts of a container on the stack, the first on top. */
function push(pending: unknown[], [open, close]: readonly [string, string], parts: unknown[][], style: Style): void {
  const sequence = [new Literal(open), ...parts.flatMap((part, index) => (index === 0 ? part : [new Literal(style.separator), ...part])), new Literal(close)];
  for (const item of sequence.reverse()) pending.push(item);
}

function members(object: Record<string, unknown>, style: Style): unknown[][] {
  return Object.keys(object)
    .sort()
    .map((name) => [new Literal(`${style.key(name)}:`), object[name]]);
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
