/**
 * Text to tree. This parser knows only what is right; when it meets something else, `syntax-faults.ts` reads the tokens again and words the
 * faults. Depth is bounded as in cel-go, whose texts these are: 250 nested rules, 250 nested operations.
 */
import { codePointLength, noOffset } from "../source.ts";
import type { CelIssue } from "../source.ts";
import type { Expr, MapEntry, StructField } from "./ast.ts";
import { balance } from "./balance.ts";
import { tokenize } from "./lexer.ts";
import type { Token, TokenKind } from "./lexer.ts";
import { expandMacro, MacroFault } from "./macros.ts";
import type { Macro } from "./macros.ts";
import { literalOf, reservedNames } from "./literals.ts";
import { describeSyntaxFaults } from "./syntax-faults.ts";

/** Faults of the text, or the tree of a text without. */
export function parse(text: string, macros: readonly Macro[]): { readonly expr: Expr } | { readonly issues: readonly CelIssue[] } {
  const size = codePointLength(text);
  if (size > maxCodePoints)
    return { issues: [{ offset: noOffset, message: `expression code point size exceeds limit: size: ${size}, limit ${maxCodePoints}` }] };
  const issues: CelIssue[] = [];
  const { tokens, unread } = tokenize(text, issues);
  const parser = new Parser(tokens, macros, issues);
  try {
    const expr = parser.start();
    return issues.length > 0 ? { issues } : { expr };
  } catch (error) {
    if (error instanceof TooDeep) return { issues: [{ offset: noOffset, message: error.message }] };
    if (!(error instanceof Unexpected)) throw error;
    return { issues: [...issues.filter((issue) => issue.message.startsWith("Syntax error")), ...describeSyntaxFaults(text, tokens, unread)] };
  }
}

const maxCodePoints = 100_000;
const maxDepth = 250;

class Unexpected extends Error {}
class TooDeep extends Error {}

const relations: ReadonlySet<TokenKind> = new Set<TokenKind>(["<", "<=", ">=", ">", "==", "!=", "in"]);
const sums: ReadonlySet<TokenKind> = new Set<TokenKind>(["+", "-"]);
const products: ReadonlySet<TokenKind> = new Set<TokenKind>(["*", "/", "%"]);

class Parser {
  readonly #tokens: readonly Token[];
  readonly #macros: ReadonlyMap<string, Macro>;
  readonly #issues: CelIssue[];
  #next = 0;
  /** Nested operations of the expression parsed last. */
  #height = 0;
  readonly #depth = { expr: 0, relation: 0, calc: 0 };

  constructor(tokens: readonly Token[], macros: readonly Macro[], issues: CelIssue[]) {
    this.#tokens = tokens;
    this.#macros = new Map(macros.map((macro) => [macroKey(macro.name, macro.isMember, macro.argCount), macro]));
    this.#issues = issues;
  }

  start(): Expr {
    const expr = this.#expr();
    this.#expect("<EOF>");
    return expr;
  }

  #expr(): Expr {
    this.#enter("expr");
    const condition = this.#or();
    let result = condition;
    const question = this.#accept("?");
    if (question !== undefined) {
      const heights = [this.#height];
      const whenTrue = this.#or();
      heights.push(this.#height);
      this.#expect(":");
      const whenFalse = this.#expr();
      this.#grow(...heights, this.#height);
      result = call("_?_:_", question.at, [condition, whenTrue, whenFalse]);
    }
    this.#depth.expr--;
    return result;
  }

  #or(): Expr {
    return this.#logical("||", "_||_", () => this.#and());
  }

  #and(): Expr {
    return this.#logical("&&", "_&&_", () => this.#relation(0));
  }

  #logical(kind: TokenKind, functionName: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const places: number[] = [];
    let height = this.#height;
    for (let operator = this.#accept(kind); operator !== undefined; operator = this.#accept(kind)) {
      places.push(operator.at);
      terms.push(operand());
      height = Math.max(height, this.#height);
    }
    this.#height = height;
    return balance(functionName, terms, places);
  }

  #relation(minPower: number): Expr {
    this.#enter("relation");
    let left = this.#calc(0);
    while (minPower < 1 && relations.has(this.#peek().kind)) {
      const operator = this.#advance();
      const height = this.#height;
      const right = this.#relation(1);
      this.#grow(height, this.#height);
      left = call(operator.kind === "in" ? "@in" : `_${operator.kind}_`, operator.at, [left, right]);
    }
    this.#depth.relation--;
    return left;
  }

  /** `minPower`: 0 takes all operators, 1 only products, 2 none. */
  #calc(minPower: number): Expr {
    this.#enter("calc");
    let left = this.#unary();
    for (;;) {
      const { kind } = this.#peek();
      const power = products.has(kind) ? 2 : sums.has(kind) ? 1 : 0;
      if (power <= minPower) break;
      const operator = this.#advance();
      const height = this.#height;
      const right = this.#calc(power);
      this.#grow(height, this.#height);
      left = call(`_${operator.kind}_`, operator.at, [left, right]);
    }
    this.#depth.calc--;
    return left;
  }

  /** Pairs of `!` or `-` cancel out. A `-` before a number belongs to it. */
  #unary(): Expr {
    const first = this.#peek();
    if (first.kind !== "!" && (first.kind !== "-" || this.#isNumber(1))) return this.#member();
    let count = 0;
    while (this.#accept(first.kind) !== undefined) count++;
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    this.#grow(this.#height);
    return call(first.kind === "!" ? "!_" : "-_", first.at, [operand]);
  }

  #isNumber(ahead: number): boolean {
    const { kind } = this.#peek(ahead);
    return kind === "NUM_INT" || kind === "NUM_FLOAT";
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      const dot = this.#accept(".");
      if (dot !== undefined) {
        expr = this.#selection(expr, dot);
        continue;
      }
      const bracket = this.#accept("[");
      if (bracket === undefined) return expr;
      const height = this.#height;
      const isOptional = this.#accept("?") !== undefined;
      const index = this.#expr();
      this.#expect("]");
      this.#grow(height, this.#height);
      expr = call(isOptional ? "_[?_]" : "_[_]", bracket.at, [expr, index]);
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    if (this.#accept("?") !== undefined) {
      const name = this.#fieldName();
      this.#grow(this.#height);
      return call("_?._", dot.at, [operand, { kind: "literal", at: name.at, value: { type: "string", value: name.text } }]);
    }
    const name = this.#fieldName();
    const open = name.isEscaped ? undefined : this.#accept("(");
    if (open === undefined) {
      this.#grow(this.#height);
      return { kind: "select", at: dot.at, operand, field: name.text, isTest: false };
    }
    const height = this.#height;
    const args = this.#args();
    this.#grow(height, this.#height);
    return this.#callOrMacro(name.text, open.at, args, operand);
  }

  #fieldName(): { text: string; at: number; isEscaped: boolean } {
    const token = this.#advance();
    if (token.kind === "IDENTIFIER") return { text: token.text, at: token.at, isEscaped: false };
    if (token.kind === "ESC_IDENTIFIER") return { text: token.text.slice(1, -1), at: token.at, isEscaped: true };
    throw new Unexpected();
  }

  #primary(): Expr {
    const token = this.#advance();
    switch (token.kind) {
      case "(": {
        const expr = this.#expr();
        this.#expect(")");
        return expr;
      }
      case "[":
        return this.#list(token.at);
      case "{":
        return this.#map(token.at);
      case ".":
        return this.#named(this.#expect("IDENTIFIER"), ".");
      case "IDENTIFIER":
        return this.#named(token, "");
      case "-":
        return this.#literal(this.#advance(), token.at);
      default:
        return this.#literal(token, token.at);
    }
  }

  #named(token: Token, dot: "" | "."): Expr {
    const open = this.#accept("(");
    if (open !== undefined) {
      const args = this.#args();
      this.#grow(this.#height);
      this.#refuseReserved(token);
      return this.#callOrMacro(dot + token.text, open.at, args);
    }
    const path = this.#messageName(token);
    if (path !== undefined) return this.#struct(dot + path, this.#expect("{").at);
    this.#refuseReserved(token);
    this.#height = 0;
    return { kind: "ident", at: token.at, name: dot + token.text };
  }

  /** The dotted name before a `{`; nothing is consumed when there is none. */
  #messageName(first: Token): string | undefined {
    let ahead = 0;
    let path = first.text;
    while (this.#peek(ahead).kind === "." && this.#peek(ahead + 1).kind === "IDENTIFIER") {
      path += `.${this.#peek(ahead + 1).text}`;
      ahead += 2;
    }
    if (this.#peek(ahead).kind !== "{") return undefined;
    this.#next += ahead;
    return path;
  }

  #args(): Expr[] {
    const args: Expr[] = [];
    let height = 0;
    if (this.#accept(")") === undefined) {
      do {
        args.push(this.#expr());
        height = Math.max(height, this.#height);
      } while (this.#accept(",") !== undefined);
      this.#expect(")");
    }
    this.#height = height;
    return args;
  }

  #list(at: number): Expr {
    const elements: Expr[] = [];
    const optionals = new Set<number>();
    this.#sequence("]", () => {
      if (this.#accept("?") !== undefined) optionals.add(elements.length);
      elements.push(this.#expr());
    });
    return { kind: "list", at, elements, optionals };
  }

  #map(at: number): Expr {
    const entries: MapEntry[] = [];
    this.#sequence("}", () => {
      const isOptional = this.#accept("?") !== undefined;
      const key = this.#expr();
      const height = this.#height;
      const colon = this.#expect(":");
      const value = this.#expr();
      this.#height = Math.max(height, this.#height);
      entries.push({ at: colon.at, key, value, isOptional });
    });
    return { kind: "map", at, entries };
  }

  #struct(typeName: string, at: number): Expr {
    const fields: StructField[] = [];
    this.#sequence("}", () => {
      const isOptional = this.#accept("?") !== undefined;
      const name = this.#fieldName();
      const colon = this.#expect(":");
      fields.push({ at: colon.at, name: name.text, value: this.#expr(), isOptional });
    });
    return { kind: "struct", at, typeName, fields };
  }

  /** Items between commas up to `close`; one more comma may follow the last, or stand alone. */
  #sequence(close: TokenKind, item: () => void): void {
    let height = 0;
    while (this.#accept(close) === undefined) {
      if (this.#accept(",") !== undefined) {
        this.#expect(close);
        break;
      }
      do {
        item();
        height = Math.max(height, this.#height);
      } while (this.#peek().kind === "," && this.#peek(1).kind !== close && this.#accept(",") !== undefined);
      if (this.#peek().kind !== "," && this.#peek().kind !== close) throw new Unexpected();
    }
    this.#grow(height);
  }

  #literal(token: Token, at: number): Expr {
    this.#height = 0;
    const value = literalOf(token, at < token.at);
    if (value === undefined) throw new Unexpected();
    if (typeof value === "string") {
      this.#issues.push({ offset: at, message: value });
      return { kind: "literal", at, value: { type: "null" } };
    }
    return { kind: "literal", at, value };
  }

  #callOrMacro(functionName: string, at: number, args: readonly Expr[], target?: Expr): Expr {
    const macro = this.#macros.get(macroKey(functionName, target !== undefined, args.length));
    if (macro !== undefined) {
      try {
        const expanded = expandMacro(macro, { at, args, ...(target !== undefined && { target }) });
        if (expanded !== undefined) return expanded;
      } catch (fault) {
        if (!(fault instanceof MacroFault)) throw fault;
        this.#issues.push({ offset: fault.at, message: fault.message });
        return { kind: "literal", at, value: { type: "null" } };
      }
    }
    return call(functionName, at, args, target);
  }

  #refuseReserved(token: Token): void {
    if (reservedNames.has(token.text)) this.#issues.push({ offset: token.at, message: `reserved identifier: ${token.text}` });
  }

  #enter(rule: "expr" | "relation" | "calc"): void {
    if (++this.#depth[rule] > maxDepth) throw new TooDeep(`expression recursion limit exceeded: ${maxDepth}`);
  }

  #grow(...heights: readonly number[]): void {
    this.#height = Math.max(0, ...heights) + 1;
    if (this.#height > maxDepth) throw new TooDeep("max recursion depth exceeded");
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  #advance(): Token {
    const token = this.#peek();
    this.#next++;
    return token;
  }

  #accept(kind: TokenKind): Token | undefined {
    return this.#peek().kind === kind ? this.#advance() : undefined;
  }

  #expect(kind: TokenKind): Token {
    const token = this.#advance();
    if (token.kind !== kind) throw new Unexpected();
    return token;
  }
}

function macroKey(name: string, isMember: boolean, argCount: number): string {
  return `${name}:${isMember ? "member" : "global"}:${argCount}`;
}

function call(functionName: string, at: number, args: readonly Expr[], target?: Expr): Expr {
  return { kind: "call", at, functionName, args, ...(target !== undefined && { target }) };
}
