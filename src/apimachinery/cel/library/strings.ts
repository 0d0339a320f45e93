/** Text functions, version 2 of cel-go's extension. Positions count code points. */
import { declare, memberOverload, overload } from "../check/declarations.ts";
import type { FunctionDeclaration } from "../check/declarations.ts";
import { dynType, intType, listType, stringType } from "../check/types.ts";
import { formatLiteral } from "../check/literal-rules.ts";
import type { Library } from "../environment.ts";
import { ArrayList, CelError } from "../eval/values.ts";
import type { ListValue, Value } from "../eval/values.ts";
import { checkFormat, formatText } from "./format-text.ts";

const texts = listType(stringType);

const functions: FunctionDeclaration[] = [
  declare("charAt", memberOverload("string_char_at_int", [stringType, intType], stringType, charAt)),
  declare(
    "format",
    memberOverload("string_format", [stringType, listType(dynType)], stringType, (format, args) => formatText(format as string, args as ListValue)),
  ),
  declare(
    "indexOf",
    memberOverload("string_index_of_string", [stringType, stringType], intType, (text, part) => indexOf(text as string, part as string, 0)),
    memberOverload("string_index_of_string_int", [stringType, stringType, intType], intType, (text, part, from) =>
      indexOf(text as string, part as string, Number(from)),
    ),
  ),
  declare(
    "lastIndexOf",
    memberOverload("string_last_index_of_string", [stringType, stringType], intType, (text, part) => lastIndexOf(text as string, part as string)),
    memberOverload("string_last_index_of_string_int", [stringType, stringType, intType], intType, (text, part, from) =>
      lastIndexOf(text as string, part as string, Number(from)),
    ),
  ),
  declare(
    "join",
    memberOverload("list_join", [texts], stringType, (list) => join(list as ListValue, "")),
    memberOverload("list_join_string", [texts, stringType], stringType, (list, separator) => join(list as ListValue, separator as string)),
  ),
  declare(
    "lowerAscii",
    memberOverload("string_lower_ascii", [stringType], stringType, (text) => (text as string).replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  ),
  declare(
    "upperAscii",
    memberOverload("string_upper_ascii", [stringType], stringType, (text) => (text as string).replace(/[a-z]+/g, (part) => part.toUpperCase())),
  ),
  declare(
    "replace",
    memberOverload("string_replace_string_string", [stringType, stringType, stringType], stringType, (text, from, to) =>
      replace(text as string, from as string, to as string, -1),
    ),
    memberOverload("string_replace_string_string_int", [stringType, stringType, stringType, intType], stringType, (text, from, to, limit) =>
      replace(text as string, from as string, to as string, Number(limit)),
    ),
  ),
  declare(
    "split",
    memberOverload("string_split_string", [stringType, stringType], texts, (text, separator) => split(text as string, separator as string, -1)),
    memberOverload("string_split_string_int", [stringType, stringType, intType], texts, (text, separator, limit) =>
      split(text as string, separator as string, Number(limit)),
    ),
  ),
  declare(
    "substring",
    memberOverload("string_substring_int", [stringType, intType], stringType, (text, start) => substring(text as string, Number(start))),
    memberOverload("string_substring_int_int", [stringType, intType, intType], stringType, (text, start, end) =>
      substring(text as string, Number(start), Number(end)),
    ),
  ),
  declare(
    "trim",
    memberOverload("string_trim", [stringType], stringType, (text) => (text as string).replace(trimmed, "")),
  ),
  declare(
    "strings.quote",
    overload("strings_quote", [stringType], stringType, (text) => quote(text as string)),
  ),
];

export const stringsLibrary: Library = { name: "strings", functions, literalRules: [formatLiteral(checkFormat)] };

/** What Unicode calls white space. */
const trimmed =
  /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;
const quoteEscapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** In double quotes, control characters that have a letter escaped. */
export function quote(text: string): string {
  return `"${text.replace(/[\u0007\b\f\n\r\t\v\\"]/g, (character) => quoteEscapes[character]!).replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")}"`;
}

function outOfRange(index: number): CelError {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text: Value, at: Value): Value {
  const characters = [...(text as string)];
  const index = Number(at);
  if (index < 0 || index > characters.length) return outOfRange(index);
  return characters[index] ?? "";
}

function indexOf(text: string, part: string, from: number): Value {
  if (from < 0) return outOfRange(from);
  const [characters, parts] = [[...text], [...part]];
  if (parts.length === 0) return Math.min(from, characters.length);
  for (let at = from; at + parts.length <= characters.length; at++) if (isAt(characters, parts, at)) return at;
  return -1;
}

function lastIndexOf(text: string, part: string, from?: number): Value {
  const [characters, parts] = [[...text], [...part]];
  if (from !== undefined && from < 0) return outOfRange(from);
  if (parts.length === 0) return Math.min(from ?? characters.length, characters.length);
  if (from !== undefined && from >= characters.length) return -1;
  for (let at = Math.min(from ?? characters.length, characters.length - parts.length); at >= 0; at--) if (isAt(characters, parts, at)) return at;
  return -1;
}

function isAt(characters: readonly string[], parts: readonly string[], at: number): boolean {
  return parts.every((character, index) => characters[at + index] === character);
}

function join(list: ListValue, separator: string): Value {
  const parts: string[] = [];
  for (const item of list) {
    if (typeof item !== "string") return new CelError("join: invalid input: " + String(item));
    parts.push(item);
  }
  return parts.join(separator);
}

function replace(text: string, from: string, to: string, limit: number): Value {
  if (limit === 0) return text;
  if (from === "") return text.length * to.length > maxTextLength ? new CelError("replace: result is too long") : surround([...text], to, limit);
  const parts = text.split(from);
  const count = limit < 0 ? parts.length - 1 : Math.min(limit, parts.length - 1);
  if (text.length + count * to.length > maxTextLength) return new CelError("replace: result is too long");
  return (
    parts
      .slice(0, count)
      .map((part) => part + to)
      .join("") + parts.slice(count).join(from)
  );
}

/** Twenty times a request; nothing that Kubernetes takes is near. */
const maxTextLength = 60 * 1024 * 1024;

/** Nothing is found before, between and after all characters. */
function surround(characters: readonly string[], added: string, limit: number): string {
  const count = limit < 0 ? characters.length + 1 : limit;
  return characters.map((character, index) => (index < count ? added : "") + character).join("") + (characters.length < count ? added : "");
}

function split(text: string, separator: string, limit: number): Value {
  if (limit === 0) return new ArrayList([]);
  const parts = separator === "" ? [...text] : text.split(separator);
  if (limit < 0 || parts.length <= limit) return new ArrayList(parts);
  return new ArrayList([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]);
}

function substring(text: string, start: number, end?: number): Value {
  const characters = [...text];
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > characters.length) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > characters.length)) return outOfRange(end);
  return characters.slice(start, end).join("");
}
