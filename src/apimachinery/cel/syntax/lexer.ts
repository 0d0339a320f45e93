/** Splits an expression into tokens. Characters that begin none are faults, after which the next token is looked for. */
import type { CelIssue } from "../source.ts";

/** Symbols are their own kind; the kinds' names are those that faults show. */
export type TokenKind = "NUM_FLOAT" | "NUM_INT" | "NUM_UINT" | "STRING" | "BYTES" | "IDENTIFIER" | "ESC_IDENTIFIER" | "<EOF>" | TokenSymbol;
export type TokenSymbol = (typeof symbols)[number] | (typeof words)[number];

export interface Token {
  readonly kind: TokenKind;
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

/** Longer symbols come before their prefixes. */
const symbols = ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%"] as const;
const words = ["in", "true", "false", "null"] as const;

const skipped = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y;
const float = /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y;
const integer = /(?:0x[0-9a-fA-F]+|\d+)([uU]?)/y;
const identifier = /[A-Za-z_]\w*/y;
const escapedIdentifier = /`[\w.\-/ ]+`/y;

const escape = String.raw`\\(?:[abfnrtv"'${"`"}\\?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])`;
const quoted = String.raw`"""(?:${escape}|[^\\])*?"""|'''(?:${escape}|[^\\])*?'''|"(?:${escape}|[^\\"\n\r])*"|'(?:${escape}|[^\\'\n\r])*'`;
const raw = String.raw`[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\n\r]*"|'[^'\n\r]*')`;
const string = new RegExp(`${quoted}|${raw}`, "y");
const bytes = new RegExp(`[bB](?:${quoted}|${raw})`, "y");
/** What a text that is not closed takes with it: up to the character that could not go on. */
const brokenString = new RegExp(String.raw`"(?:${escape}|[^\\"\n\r])*|'(?:${escape}|[^\\'\n\r])*`, "y");
const brokenEscape = new RegExp(String.raw`\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?`, "y");

/** `unread`: what was left out between tokens, from and to which offset. */
export function tokenize(text: string, issues: CelIssue[]): { readonly tokens: readonly Token[]; readonly unread: ReadonlyArray<readonly [number, number]> } {
  const tokens: Token[] = [];
  const unread: [number, number][] = [];
  let at = 0;
  for (;;) {
    at += matchAt(skipped, text, at)?.length ?? 0;
    if (at >= text.length) break;
    const kind = kindAt(text, at);
    if (kind === undefined) {
      const end = endOfFault(text, at);
      issues.push({ offset: at, message: `Syntax error: token recognition error at: '${text.slice(at, end)}'` });
      unread.push([at, end]);
      at = end;
      continue;
    }
    tokens.push({ kind: kind.kind, at, end: at + kind.length, text: text.slice(at, at + kind.length) });
    at += kind.length;
  }
  tokens.push({ kind: "<EOF>", at: text.length, end: text.length, text: "" });
  return { tokens, unread };
}

function kindAt(text: string, at: number): { kind: TokenKind; length: number } | undefined {
  const first = text[at]!;
  if (isDigit(first) || (first === "." && isDigit(text[at + 1] ?? ""))) {
    const real = matchAt(float, text, at);
    if (real !== undefined) return { kind: "NUM_FLOAT", length: real.length };
    const whole = matchAt(integer, text, at)!;
    return { kind: /[uU]$/.test(whole) ? "NUM_UINT" : "NUM_INT", length: whole.length };
  }
  if ("\"'rRbB".includes(first)) {
    const literal = matchAt(string, text, at);
    if (literal !== undefined) return { kind: "STRING", length: literal.length };
    const binary = matchAt(bytes, text, at);
    if (binary !== undefined) return { kind: "BYTES", length: binary.length };
  }
  const name = matchAt(identifier, text, at);
  if (name !== undefined) {
    const word = words.find((candidate) => candidate === name);
    return { kind: word ?? "IDENTIFIER", length: name.length };
  }
  const escaped = first === "`" ? matchAt(escapedIdentifier, text, at) : undefined;
  if (escaped !== undefined) return { kind: "ESC_IDENTIFIER", length: escaped.length };
  const symbol = symbols.find((candidate) => text.startsWith(candidate, at));
  return symbol === undefined ? undefined : { kind: symbol, length: symbol.length };
}

/** A fault ends after the first character that no token could have had there. */
function endOfFault(text: string, at: number): number {
  const first = text[at]!;
  let end = at + 1;
  if (first === '"' || first === "'") {
    end = at + matchAt(brokenString, text, at)!.length;
    end += text[end] === "\\" ? matchAt(brokenEscape, text, end)!.length : 0;
  } else if (first === "`") end = at + (/`[\w.\-/ ]*/y.exec(text.slice(at))?.[0].length ?? 1);
  else if (!"=&|".includes(first)) return at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
  if (end >= text.length) return text.length;
  return end + (text.codePointAt(end)! > 0xffff ? 2 : 1);
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character.length === 1;
}
