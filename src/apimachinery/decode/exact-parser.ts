/**
 * Reads JSON so that nothing is lost: duplicate members, the text of numbers, the order of all. Errors are Go's, byte by byte. Does not
 * recurse: nesting is legal up to 10,000 levels.
 */
import { rawNumber, setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { DecodeError } from "./decode-error.ts";

/** Parses `bytes`; throws a `DecodeError` of reason `syntax`. */
export function parseExact(bytes: Uint8Array): ExactNode {
  return new ExactParser(bytes).parse();
}

export type ExactNode = null | boolean | string | NumberText | ExactMembers | ExactNode[];

/** A number as it was written. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object with all its members, duplicates too. */
export class ExactMembers {
  readonly keys: string[] = [];
  readonly values: ExactNode[] = [];
}

/** Levels of nesting that encoding/json allows. */
export const maxDepth = 10_000;

/** A number as a value: its text survives where JavaScript would print another. */
export function numberValue(text: string): JsonValue {
  const number = Number(text);
  return String(number) === text ? number : rawNumber(text);
}

/** A number for a field of a float type. */
export function floatValue(text: string): number {
  return Number(text);
}

/** The plain value of a node; the last of duplicates wins. Does not recurse. */
export function plainValue(root: ExactNode): JsonValue {
  const holder: JsonValue[] = [];
  const pending: [node: ExactNode, target: JsonValue[] | JsonObject, key: string | number][] = [[root, holder, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, target, key] = next;
    if (node instanceof ExactMembers) {
      const object: JsonObject = {};
      place(target, key, object);
      // Members are set in order first, so that the order of keys stays; the work on them is done later.
      for (let index = 0; index < node.keys.length; index++) setMember(object, node.keys[index]!, null);
      const last = new Map(node.keys.map((name, index) => [name, index]));
      for (const [name, index] of last) pending.push([node.values[index]!, object, name]);
    } else if (Array.isArray(node)) {
      const list: JsonValue[] = Array.from(node, () => null);
      place(target, key, list);
      for (let index = 0; index < node.length; index++) pending.push([node[index]!, list, index]);
    } else {
      place(target, key, node instanceof NumberText ? numberValue(node.text) : node);
    }
  }
  return holder[0]!;
}

function place(target: JsonValue[] | JsonObject, key: string | number, value: JsonValue): void {
  if (Array.isArray(target)) target[key as number] = value;
  else setMember(target, key as string, value);
}

const quoteByte = 0x22;
const backslash = 0x5c;
const escapes = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));

class ExactParser {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  parse(): ExactNode {
    const open: (ExactMembers | ExactNode[])[] = [];
    for (;;) {
      let value = this.#startValue(open);
      if (value === undefined) continue;
      for (;;) {
        const parent = open.at(-1);
        if (parent === undefined) {
          this.#end();
          return value;
        }
        if (Array.isArray(parent)) parent.push(value);
        else parent.values.push(value);
        if (this.#continues(parent)) break;
        value = open.pop()!;
      }
    }
  }

  /** A whole value, or undefined when a container was opened that has members. */
  #startValue(open: (ExactMembers | ExactNode[])[]): ExactNode | undefined {
    const byte = this.#peek();
    if (byte !== 0x7b && byte !== 0x5b) return this.#scalar(byte);
    if (open.length >= maxDepth) this.#fail(byte, "exceeded max depth");
    this.#position++;
    const isObject = byte === 0x7b;
    const container = isObject ? new ExactMembers() : [];
    const next = this.#peek();
    if (next === (isObject ? 0x7d : 0x5d)) {
      this.#position++;
      return container;
    }
    open.push(container);
    if (container instanceof ExactMembers) this.#key(container);
    return undefined;
  }

  /** After a member: true when another follows. */
  #continues(parent: ExactMembers | ExactNode[]): boolean {
    const byte = this.#peek();
    const isList = Array.isArray(parent);
    if (byte === (isList ? 0x5d : 0x7d)) {
      this.#position++;
      return false;
    }
    if (byte !== 0x2c) this.#fail(byte, isList ? "after array element" : "after object key:value pair");
    this.#position++;
    if (!isList) this.#key(parent);
    return true;
  }

  #key(members: ExactMembers): void {
    const byte = this.#peek();
    if (byte !== quoteByte) this.#fail(byte, "looking for beginning of object key string");
    members.keys.push(this.#string());
    const colon = this.#peek();
    if (colon !== 0x3a) this.#fail(colon, "after object key");
    this.#position++;
  }

  #scalar(byte: number): ExactNode {
    if (byte === quoteByte) return this.#string();
    if (byte === 0x2d || isDigit(byte)) return this.#number();
    if (byte === 0x74) return this.#literal("true", true);
    if (byte === 0x66) return this.#literal("false", false);
    if (byte === 0x6e) return this.#literal("null", null);
    return this.#fail(byte, "looking for beginning of value");
  }

  #literal<T>(word: string, value: T): T {
    for (let index = 1; index < word.length; index++) {
      const byte = this.#at(this.#position + index);
      if (byte !== word.charCodeAt(index)) this.#fail(byte, `in literal ${word} (expecting '${word[index]}')`);
    }
    this.#position += word.length;
    return value;
  }

  #string(): string {
    const start = this.#position;
    let end = start + 1;
    let isEscaped = false;
    for (;;) {
      const byte = this.#at(end);
      if (byte === quoteByte) break;
      if (byte < 0x20) this.#fail(byte, "in string literal");
      if (byte !== backslash) {
        end++;
        continue;
      }
      isEscaped = true;
      end += this.#escape(end + 1);
    }
    this.#position = end + 1;
    const text = this.#bytes.toString("utf8", start + 1, end);
    return isEscaped ? (JSON.parse(`"${text}"`) as string).toWellFormed() : text;
  }

  /** Length of an escape sequence whose letter is at `position`, backslash included. */
  #escape(position: number): number {
    const byte = this.#at(position);
    if (escapes.has(byte)) return 2;
    if (byte !== 0x75) this.#fail(byte, "in string escape code");
    for (let index = 1; index <= 4; index++) {
      const digit = this.#at(position + index);
      if (!isHexDigit(digit)) this.#fail(digit, "in \\u hexadecimal character escape");
    }
    return 6;
  }

  #number(): NumberText {
    const start = this.#position;
    let end = start;
    if (this.#bytes[end] === 0x2d) end++;
    const first = this.#at(end);
    if (!isDigit(first)) this.#fail(first, "in numeric literal");
    end = first === 0x30 ? end + 1 : this.#skipDigits(end);
    if (this.#bytes[end] === 0x2e) {
      const digit = this.#at(end + 1);
      if (!isDigit(digit)) this.#fail(digit, "after decimal point in numeric literal");
      end = this.#skipDigits(end + 1);
    }
    if (this.#bytes[end] === 0x65 || this.#bytes[end] === 0x45) {
      end++;
      const sign = this.#at(end);
      if (sign === 0x2b || sign === 0x2d) end++;
      const digit = this.#at(end);
      if (!isDigit(digit)) this.#fail(digit, "in exponent of numeric literal");
      end = this.#skipDigits(end);
    }
    this.#position = end;
    return new NumberText(this.#bytes.toString("latin1", start, end));
  }

  #skipDigits(position: number): number {
    let end = position;
    while (isDigit(this.#bytes[end] ?? 0)) end++;
    return end;
  }

  #end(): void {
    this.#skipSpace();
    const byte = this.#bytes[this.#position];
    if (byte !== undefined) this.#fail(byte, "after top-level value");
  }

  /** The next byte that is no white space; not consumed. */
  #peek(): number {
    this.#skipSpace();
    return this.#at(this.#position);
  }

  #skipSpace(): void {
    for (;;) {
      const byte = this.#bytes[this.#position];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#position++;
    }
  }

  #at(position: number): number {
    const byte = this.#bytes[position];
    if (byte === undefined) throw new DecodeError("syntax", "unexpected end of JSON input");
    return byte;
  }

  #fail(byte: number, context: string): never {
    throw new DecodeError("syntax", `invalid character ${quotedByte(byte)} ${context}`);
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46);
}

const namedBytes: ReadonlyMap<number, string> = new Map([
  [7, "\\a"],
  [8, "\\b"],
  [9, "\\t"],
  [10, "\\n"],
  [11, "\\v"],
  [12, "\\f"],
  [13, "\\r"],
  [0x27, "\\'"],
  [backslash, "\\\\"],
]);

/** A byte as Go quotes the Latin-1 character of that number. */
function quotedByte(byte: number): string {
  const named = namedBytes.get(byte);
  if (named !== undefined) return `'${named}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, "0")}'`;
  if ((byte >= 0x80 && byte <= 0xa0) || byte === 0xad) return `'\\u00${byte.toString(16)}'`;
  return `'${String.fromCharCode(byte)}'`;
}
