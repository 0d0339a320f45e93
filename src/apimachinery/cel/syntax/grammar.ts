/**
 * CEL's grammar as data, in the shape that the faults of the reference parser follow from: which tokens may come next, where, and how far it
 * looks ahead. Only `syntax-faults.ts` reads it.
 */
import type { TokenKind } from "./lexer.ts";

export type RuleName =
  | "start"
  | "expr"
  | "conditionalOr"
  | "conditionalAnd"
  | "relation"
  | "calc"
  | "unary"
  | "member"
  | "primary"
  | "exprList"
  | "listInit"
  | "fieldInitializerList"
  | "optField"
  | "mapInitializerList"
  | "escapeIdent"
  | "optExpr"
  | "literal";

export type Grammar = Readonly<Record<RuleName, Sequence>>;
export type Sequence = readonly GrammarNode[];

export type GrammarNode =
  | { readonly type: "token"; readonly kind: TokenKind }
  | { readonly type: "rule"; readonly rule: RuleName }
  | { readonly type: "optional"; readonly body: Sequence }
  /** Repeats while `continues` says so of the next tokens; without it, while the body can begin with the next token. */
  | { readonly type: "star"; readonly body: Sequence; readonly continues?: LookAhead }
  | { readonly type: "plus"; readonly body: Sequence; readonly continues?: Predict }
  /** `choose` gives the index of the branch, or how many tokens it took to see that none fits. */
  | { readonly type: "choice"; readonly branches: readonly Sequence[]; readonly choose: Predict }
  /** Left-recursive operators: those of a power above the rule's own take an operand of the same rule. */
  | { readonly type: "operators"; readonly powers: ReadonlyMap<TokenKind, number>; readonly rule: RuleName };

/** Kind of the token `ahead` tokens from here, 0 being the next. */
export type Peek = (ahead: number) => TokenKind;
export type LookAhead = (peek: Peek) => boolean;
export type Predict = (peek: Peek) => number | { readonly noneAfter: number };

const expressionStart: readonly TokenKind[] = [
  "[",
  "{",
  "(",
  ".",
  "-",
  "!",
  "true",
  "false",
  "null",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
];
const memberStart: readonly TokenKind[] = expressionStart.filter((kind) => kind !== "!");

const startsExpression = (kind: TokenKind) => expressionStart.includes(kind);
const startsMember = (kind: TokenKind) => memberStart.includes(kind);
const isNumber = (kind: TokenKind) => kind === "NUM_INT" || kind === "NUM_FLOAT";
/** A comma belongs to the list when another item follows it, else to the closing bracket. */
const commaThen =
  (starts: (kind: TokenKind) => boolean): LookAhead =>
  (peek) =>
    peek(0) === "," && starts(peek(1));
const startsOptional = (kind: TokenKind) => kind === "?" || startsExpression(kind);
const startsField = (kind: TokenKind) => kind === "?" || kind === "IDENTIFIER" || kind === "ESC_IDENTIFIER";

export const grammar: Grammar = {
  start: [rule("expr"), token("<EOF>")],
  expr: [rule("conditionalOr"), optional(token("?"), rule("conditionalOr"), token(":"), rule("expr"))],
  conditionalOr: [rule("conditionalAnd"), star([token("||"), rule("conditionalAnd")])],
  conditionalAnd: [rule("relation"), star([token("&&"), rule("relation")])],
  relation: [rule("calc"), operators("relation", { "<": 1, "<=": 1, ">=": 1, ">": 1, "==": 1, "!=": 1, in: 1 })],
  calc: [rule("unary"), operators("calc", { "*": 2, "/": 2, "%": 2, "+": 1, "-": 1 })],
  unary: [choice(chooseUnary, [rule("member")], [plus([token("!")]), rule("member")], [plus([token("-")], moreMinus), rule("member")])],
  member: [
    rule("primary"),
    star([
      choice(
        chooseMember,
        [token("."), optional(token("?")), rule("escapeIdent")],
        [token("."), token("IDENTIFIER"), token("("), optional(rule("exprList")), token(")")],
        [token("["), optional(token("?")), rule("expr"), token("]")],
      ),
    ]),
  ],
  primary: [
    choice(
      choosePrimary,
      [optional(token(".")), token("IDENTIFIER")],
      [optional(token(".")), token("IDENTIFIER"), token("("), optional(rule("exprList")), token(")")],
      [token("("), rule("expr"), token(")")],
      [token("["), optional(rule("listInit")), optional(token(",")), token("]")],
      [token("{"), optional(rule("mapInitializerList")), optional(token(",")), token("}")],
      [
        optional(token(".")),
        token("IDENTIFIER"),
        star([token("."), token("IDENTIFIER")]),
        token("{"),
        optional(rule("fieldInitializerList")),
        optional(token(",")),
        token("}"),
      ],
      [rule("literal")],
    ),
  ],
  exprList: [rule("expr"), star([token(","), rule("expr")])],
  listInit: [rule("optExpr"), star([token(","), rule("optExpr")], commaThen(startsOptional))],
  fieldInitializerList: [rule("optField"), token(":"), rule("expr"), star([token(","), rule("optField"), token(":"), rule("expr")], commaThen(startsField))],
  optField: [optional(token("?")), rule("escapeIdent")],
  mapInitializerList: [rule("optExpr"), token(":"), rule("expr"), star([token(","), rule("optExpr"), token(":"), rule("expr")], commaThen(startsOptional))],
  escapeIdent: [choice(chooseEscapeIdent, [token("IDENTIFIER")], [token("ESC_IDENTIFIER")])],
  optExpr: [optional(token("?")), rule("expr")],
  literal: [
    choice(
      chooseLiteral,
      [optional(token("-")), token("NUM_INT")],
      [token("NUM_UINT")],
      [optional(token("-")), token("NUM_FLOAT")],
      [token("STRING")],
      [token("BYTES")],
      [token("true")],
      [token("false")],
      [token("null")],
    ),
  ],
};

function token(kind: TokenKind): GrammarNode {
  return { type: "token", kind };
}

function rule(name: RuleName): GrammarNode {
  return { type: "rule", rule: name };
}

function optional(...body: GrammarNode[]): GrammarNode {
  return { type: "optional", body };
}

function star(body: Sequence, continues?: LookAhead): GrammarNode {
  return { type: "star", body, ...(continues && { continues }) };
}

function plus(body: Sequence, continues?: Predict): GrammarNode {
  return { type: "plus", body, ...(continues && { continues }) };
}

function choice(choose: Predict, ...branches: Sequence[]): GrammarNode {
  return { type: "choice", branches, choose };
}

function operators(name: RuleName, powers: Readonly<Record<string, number>>): GrammarNode {
  return { type: "operators", powers: new Map(Object.entries(powers)) as ReadonlyMap<TokenKind, number>, rule: name };
}

function chooseUnary(peek: Peek): ReturnType<Predict> {
  if (peek(0) === "!") return 1;
  if (peek(0) !== "-" || isNumber(peek(1))) return 0;
  return startsMember(peek(1)) ? 2 : { noneAfter: 2 };
}

/** 1: another `-` belongs to the operators; 0: the operand begins. */
function moreMinus(peek: Peek): ReturnType<Predict> {
  if (peek(0) !== "-") return startsMember(peek(0)) ? 0 : { noneAfter: 1 };
  return startsMember(peek(1)) ? 1 : { noneAfter: 2 };
}

function chooseMember(peek: Peek): ReturnType<Predict> {
  if (peek(0) === "[") return 2;
  if (peek(1) === "?" || peek(1) === "ESC_IDENTIFIER") return 0;
  if (peek(1) !== "IDENTIFIER") return { noneAfter: 2 };
  return peek(2) === "(" ? 1 : 0;
}

function choosePrimary(peek: Peek): ReturnType<Predict> {
  const kind = peek(0);
  if (kind === "(") return 2;
  if (kind === "[") return 3;
  if (kind === "{") return 4;
  if (kind === "-") return isNumber(peek(1)) ? 6 : { noneAfter: 2 };
  if (kind !== "." && kind !== "IDENTIFIER") return startsMember(kind) ? 6 : { noneAfter: 1 };
  let ahead = kind === "." ? 1 : 0;
  if (peek(ahead) !== "IDENTIFIER") return { noneAfter: ahead + 1 };
  if (peek(ahead + 1) === "(") return 1;
  while (peek(ahead + 1) === "." && peek(ahead + 2) === "IDENTIFIER") ahead += 2;
  return peek(ahead + 1) === "{" ? 5 : 0;
}

function chooseEscapeIdent(peek: Peek): ReturnType<Predict> {
  if (peek(0) === "IDENTIFIER") return 0;
  return peek(0) === "ESC_IDENTIFIER" ? 1 : { noneAfter: 1 };
}

function chooseLiteral(peek: Peek): ReturnType<Predict> {
  const kinds: readonly TokenKind[] = ["NUM_INT", "NUM_UINT", "NUM_FLOAT", "STRING", "BYTES", "true", "false", "null"];
  const index = kinds.indexOf(peek(peek(0) === "-" ? 1 : 0));
  return index < 0 ? { noneAfter: 1 } : index;
}
