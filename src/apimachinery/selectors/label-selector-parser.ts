/**
 * The grammar of label selectors: requirements separated by commas, each `key`, `!key`, `key OP value` or `key in (value, …)`.
 * The parser is a cursor over the text's tokens; it knows syntax only, but a bad key is reported as soon as it is read.
 */
import { fieldErrorText } from "../field-error.ts";
import { FieldPath } from "../field-path.ts";
import { keyFaults, newRequirement, SelectorError } from "./label-requirement.ts";
import type { LabelOperator, LabelRequirement } from "./label-requirement.ts";

/** The requirements in the order written. Throws `SelectorError`. */
export function parseRequirements(text: string): LabelRequirement[] {
  const cursor: Cursor = { tokens: tokenize(text), position: 0 };
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const first = peek(cursor);
    if (first.kind === "end") return requirements;
    if (!startsRequirement(first)) throw new SelectorError(`found '${first.text}', expected: !, identifier, or 'end of string'`);
    requirements.push(parseRequirement(cursor));
    const next = take(cursor);
    if (next.kind === "end") return requirements;
    if (next.kind !== ",") throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
    const after = peek(cursor);
    if (!startsRequirement(after)) throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
  }
}

/** `kind` is the symbol itself, `word` for anything else, `end` after the last. */
interface Token {
  readonly kind: string;
  readonly text: string;
}
interface Cursor {
  readonly tokens: readonly Token[];
  position: number;
}

const binaryOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);
const endToken: Token = { kind: "end", text: "" };

function tokenize(text: string): Token[] {
  return Array.from(text.matchAll(/==|!=|[=!(),><]|[^=!(),><\t\n\r ]+/g), ([part]) => ({ kind: /^[=!(),><]/.test(part) ? part : "word", text: part }));
}

function peek(cursor: Cursor): Token {
  return cursor.tokens[cursor.position] ?? endToken;
}

function take(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.position++;
  return token;
}

function startsRequirement(token: Token): boolean {
  return token.kind === "word" || token.kind === "!";
}

/** Everything that goes wrong inside a requirement is reported as such. */
function parseRequirement(cursor: Cursor): LabelRequirement {
  try {
    return parseKeyed(cursor);
  } catch (error) {
    if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`, { cause: error });
    throw error;
  }
}

function parseKeyed(cursor: Cursor): LabelRequirement {
  const isNegated = peek(cursor).kind === "!";
  if (isNegated) cursor.position++;
  const key = take(cursor);
  if (key.kind !== "word") throw new SelectorError(`found '${key.text}', expected: identifier`);
  const [fault] = keyFaults(key.text, FieldPath.root());
  if (fault !== undefined) throw new SelectorError(fieldErrorText(fault));
  if (isNegated) return newRequirement(key.text, "!", []);
  const next = peek(cursor);
  if (next.kind === "end" || next.kind === ",") return newRequirement(key.text, "exists", []);
  const operator = binaryOperators.get(take(cursor).text);
  if (operator === undefined) throw new SelectorError(`found '${next.text}', expected: in, notin, =, ==, !=, gt, lt`);
  const values = operator === "in" || operator === "notin" ? parseValues(cursor) : [parseExactValue(cursor)];
  return newRequirement(key.text, operator, [...new Set(values)].sort());
}

function parseExactValue(cursor: Cursor): string {
  const next = peek(cursor);
  if (next.kind === "end" || next.kind === ",") return "";
  cursor.position++;
  if (next.kind !== "word") throw new SelectorError(`found '${next.text}', expected: identifier`);
  return next.text;
}

/** `(a, b)`; an empty place between commas or parentheses stands for the empty value. */
function parseValues(cursor: Cursor): string[] {
  const open = take(cursor);
  if (open.kind !== "(") throw new SelectorError(`found '${open.text}' expected: '('`);
  const first = peek(cursor);
  if (first.kind !== "word" && first.kind !== "," && first.kind !== ")") throw new SelectorError(`found '${first.text}', expected: ',', ')' or identifier`);
  const values: string[] = [];
  for (let isPlaceEmpty = true; ;) {
    const token = take(cursor);
    if (token.kind === "word") {
      const next = peek(cursor);
      if (next.kind !== "," && next.kind !== ")") throw new SelectorError(`found '${next.text}', expected: ',' or ')'`);
      values.push(token.text);
      isPlaceEmpty = false;
    } else if (token.kind === "," || token.kind === ")") {
      if (isPlaceEmpty) values.push("");
      isPlaceEmpty = true;
      if (token.kind === ")") return values;
    } else {
      throw new SelectorError(`found '${token.text}', expected: ',', or identifier`);
    }
  }
}
