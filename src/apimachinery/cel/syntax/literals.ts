/** Literals of the source text, and the words that may not be names. */
import type { Literal } from "./ast.ts";
import type { Token } from "./lexer.ts";

export const reservedNames: ReadonlySet<string> = new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
]);

/** The literal of a token, a fault's text, or undefined when the token is no literal. */
export function literalOf(token: Token, isNegative: boolean): Literal | string | undefined {
  if (isNegative && token.kind !== "NUM_INT" && token.kind !== "NUM_FLOAT") return undefined;
  switch (token.kind) {
    case "null":
      return { type: "null" };
    case "true":
    case "false":
      return { type: "bool", value: token.kind === "true" };
    case "NUM_INT": {
      const magnitude = BigInt(token.text);
      const value = isNegative ? -magnitude : magnitude;
      return BigInt.asIntN(64, value) === value ? { type: "int", value } : "invalid int literal";
    }
    case "NUM_UINT": {
      const value = BigInt(token.text.slice(0, -1));
      return BigInt.asUintN(64, value) === value ? { type: "uint", value } : "invalid uint literal";
    }
    case "NUM_FLOAT": {
      const value = Number(token.text);
      return Number.isFinite(value) ? { type: "double", value: isNegative ? -value : value } : "invalid double literal";
    }
    case "STRING": {
      const value = unquote(token.text, false);
      return value === undefined ? "unable to unescape string" : { type: "string", value: value as string };
    }
    case "BYTES": {
      const value = unquote(token.text.slice(1), true);
      return value === undefined ? "unable to unescape string" : { type: "bytes", value: value as Uint8Array };
    }
    default:
      return undefined;
  }
}

const simpleEscapes: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
const escapes = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7][0-7])|(.))/gsu;

function unquote(source: string, isBytes: boolean): string | Uint8Array | undefined {
  const isRaw = source[0] === "r" || source[0] === "R";
  const quoted = (isRaw ? source.slice(1) : source).replace(/\r\n?/g, "\n");
  const quotes = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1;
  const body = quoted.slice(quotes, -quotes);
  if (isRaw || !body.includes("\\")) return isBytes ? new TextEncoder().encode(body) : body;
  const parts: (string | number)[] = [];
  let isBroken = false;
  let end = 0;
  for (const match of body.matchAll(escapes)) {
    parts.push(body.slice(end, match.index));
    end = match.index + match[0].length;
    const [, hex, short, long, octal, other] = match;
    const unicode = short ?? long;
    if (unicode !== undefined) {
      const point = Number.parseInt(unicode, 16);
      if (isBytes || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) isBroken = true;
      else parts.push(String.fromCodePoint(point));
    } else if (other !== undefined) parts.push(simpleEscapes[other] ?? other);
    else parts.push(hex === undefined ? Number.parseInt(octal!, 8) : Number.parseInt(hex, 16));
  }
  parts.push(body.slice(end));
  if (isBroken) return undefined;
  return isBytes ? joinBytes(parts) : parts.map((part) => (typeof part === "number" ? String.fromCharCode(part) : part)).join("");
}

/** In bytes, `\xff` is one byte; in texts it is the character U+00FF. */
function joinBytes(parts: readonly (string | number)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === "number" ? Uint8Array.of(part) : new TextEncoder().encode(part))));
}
