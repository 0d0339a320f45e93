/** The grammar of Kubernetes' JSONPath: from text to steps. */
import type { JsonScalar } from "./json.ts";

export interface Slice {
  readonly kind: "slice";
  readonly first: number | undefined;
  /** `next`: only the item at `first`. */
  readonly end: number | "next" | undefined;
  readonly step: number | undefined;
}

export type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "wildcard" }
  | { readonly kind: "descent" }
  | Slice
  | { readonly kind: "union"; readonly branches: readonly (readonly Step[])[] }
  | { readonly kind: "filter"; readonly left: Operand; readonly operator: string; readonly right?: Operand };

export type Operand = { readonly kind: "path"; readonly steps: readonly Step[] } | { readonly kind: "literal"; readonly value: JsonScalar };

export class JsonPathSyntaxError extends Error {
  override name = "JsonPathSyntaxError";
  readonly reason = "JsonPathSyntax";
}

/** Steps of `.a.b[0]` or `[0].a`. Throws JsonPathSyntaxError. */
export function parseSteps(text: string): Step[] {
  const steps: Step[] = [];
  let position = 0;
  while (position < text.length) {
    const letter = text[position]!;
    if (letter === "[") {
      const end = closingBracket(text, position);
      steps.push(parseBracket(text.slice(position + 1, end)));
      position = end + 1;
      continue;
    }
    if (letter !== ".") throw new JsonPathSyntaxError(`unexpected ${JSON.stringify(letter)} in ${JSON.stringify(text)}`);
    position++;
    if (text[position] === ".") {
      steps.push({ kind: "descent" });
      position++;
    }
    if (text[position] === "[" || position === text.length) continue;
    const { name, end } = readName(text, position);
    steps.push(name === "*" ? { kind: "wildcard" } : { kind: "field", name });
    position = end;
  }
  return steps;
}

/** A key up to the next dot or bracket; a backslash takes the next letter as it is. */
function readName(text: string, start: number): { name: string; end: number } {
  let name = "";
  let position = start;
  for (; position < text.length && !".[".includes(text[position]!); position++) {
    if (text[position] === "\\") position++;
    name += text[position] ?? "";
  }
  if (name === "") throw new JsonPathSyntaxError(`a key is missing in ${JSON.stringify(text)}`);
  return { name, end: position };
}

/** Where the bracket that opens at `start` closes, past nested ones and quoted texts. */
function closingBracket(text: string, start: number): number {
  let depth = 0;
  let quote = "";
  for (let position = start; position < text.length; position++) {
    const letter = text[position]!;
    if (letter === "\\") position++;
    else if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === "'" || letter === '"') quote = letter;
    else if (letter === "[") depth++;
    else if (letter === "]" && --depth === 0) return position;
  }
  throw new JsonPathSyntaxError(`a bracket is not closed in ${JSON.stringify(text)}`);
}

function parseBracket(inner: string): Step {
  const text = inner.trim();
  if (text === "*") return { kind: "slice", first: undefined, end: undefined, step: undefined };
  const filter = /^\?\((.*)\)$/s.exec(text);
  if (filter !== null) return parseFilter(filter[1]!.trim());
  const parts = splitOutside(text, ",");
  if (parts.length > 1) return { kind: "union", branches: parts.map((part) => [parseBracket(part)]) };
  const quoted = unquote(text);
  if (quoted !== undefined) return { kind: "field", name: quoted };
  const slice = /^(-?\d+)?(:(-?\d+)?)?(:(\d+)?)?$/.exec(text);
  if (text === "" || slice === null) throw new JsonPathSyntaxError(`${JSON.stringify(`[${inner}]`)} is neither an index nor a key`);
  const [, first, hasRange, end, , step] = slice;
  const start = first === undefined ? undefined : Number(first);
  if (hasRange === undefined) return { kind: "slice", first: start, end: "next", step: undefined };
  return { kind: "slice", first: start, end: end === undefined ? undefined : Number(end), step: step === undefined ? undefined : Number(step) };
}

function parseFilter(text: string): Step {
  for (const operator of ["==", "!=", "<=", ">=", "<", ">"]) {
    const parts = splitOutside(text, operator);
    if (parts.length === 2) return { kind: "filter", left: parseOperand(parts[0]!), operator, right: parseOperand(parts[1]!) };
  }
  return { kind: "filter", left: parseOperand(text), operator: "exists" };
}

function parseOperand(source: string): Operand {
  const text = source.trim();
  if (text.startsWith("@")) return { kind: "path", steps: parseSteps(text.slice(1)) };
  if (text.startsWith(".") || text.startsWith("[")) return { kind: "path", steps: parseSteps(text) };
  const quoted = unquote(text);
  if (quoted !== undefined) return { kind: "literal", value: quoted };
  if (text === "true" || text === "false") return { kind: "literal", value: text === "true" };
  if (text !== "" && !Number.isNaN(Number(text))) return { kind: "literal", value: Number(text) };
  throw new JsonPathSyntaxError(`${JSON.stringify(text)} is neither a path nor a value`);
}

/** The text inside quotes, or undefined when there are none. */
function unquote(text: string): string | undefined {
  const match = /^(['"])(.*)\1$/s.exec(text);
  return match === null ? undefined : match[2]!.replace(/\\(.)/gs, "$1");
}

/** Splits at `separator` where it stands outside quotes and brackets. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let position = 0; position < text.length; position++) {
    const letter = text[position]!;
    if (letter === "\\") position++;
    else if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === "'" || letter === '"') quote = letter;
    else if (letter === "[") depth++;
    else if (letter === "]") depth--;
    else if (depth === 0 && text.startsWith(separator, position)) {
      parts.push(text.slice(start, position));
      position += separator.length - 1;
      start = position + 1;
    }
  }
  return [...parts, text.slice(start)];
}
