/** Syntax trees. Macros are expanded while parsing, so that trees hold comprehensions instead of them. */

export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr;

export interface LiteralExpr {
  readonly kind: "literal";
  readonly at: number;
  readonly value: Literal;
}

/** Values that can be written down. Integers are exact whatever their size. */
export type Literal =
  | { readonly type: "null" }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "int"; readonly value: bigint }
  | { readonly type: "uint"; readonly value: bigint }
  | { readonly type: "double"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "bytes"; readonly value: Uint8Array };

/** `at` of every expression is the offset that faults point to: the operator, the opening bracket, the dot, or the first character. */
export interface IdentExpr {
  readonly kind: "ident";
  readonly at: number;
  readonly name: string;
}

export interface SelectExpr {
  readonly kind: "select";
  readonly at: number;
  readonly operand: Expr;
  readonly field: string;
  /** Made by `has()`: asks whether the field is there. */
  readonly isTest: boolean;
}

/** Operators are calls of functions like `_+_`. */
export interface CallExpr {
  readonly kind: "call";
  readonly at: number;
  readonly functionName: string;
  readonly target?: Expr;
  readonly args: readonly Expr[];
}

export interface ListExpr {
  readonly kind: "list";
  readonly at: number;
  readonly elements: readonly Expr[];
  /** Indices of elements written `?e`. */
  readonly optionals: ReadonlySet<number>;
}

export interface MapExpr {
  readonly kind: "map";
  readonly at: number;
  readonly entries: readonly MapEntry[];
}

export interface MapEntry {
  readonly at: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly isOptional: boolean;
}

export interface StructExpr {
  readonly kind: "struct";
  readonly at: number;
  readonly typeName: string;
  readonly fields: readonly StructField[];
}

export interface StructField {
  readonly at: number;
  readonly name: string;
  readonly value: Expr;
  readonly isOptional: boolean;
}

/** A fold: `accuVar` starts as `accuInit` and becomes `loopStep` for each item of `iterRange` while `loopCondition` holds. */
export interface ComprehensionExpr {
  readonly kind: "comprehension";
  readonly at: number;
  readonly iterRange: Expr;
  readonly iterVar: string;
  /** Value (or item) when `iterVar` is the key (or index). */
  readonly iterVar2?: string;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly loopCondition: Expr;
  readonly loopStep: Expr;
  readonly result: Expr;
}

/** Name of the accumulator that macros make; no identifier can be written so. */
export const accumulatorName = "@result";

/** Whether a fold only names a value: it runs over nothing and its accumulator is a name of the author's. */
export function isBinding({ iterRange, loopCondition, accuVar }: ComprehensionExpr): boolean {
  const isNeverRun = loopCondition.kind === "literal" && loopCondition.value.type === "bool" && !loopCondition.value.value;
  return isNeverRun && iterRange.kind === "list" && iterRange.elements.length === 0 && accuVar !== accumulatorName;
}

/** `a.b.c` of a chain of selections that starts at an identifier; undefined for all else. */
export function qualifiedName(expr: Expr): string | undefined {
  const parts: string[] = [];
  let current = expr;
  while (current.kind === "select") {
    if (current.isTest) return undefined;
    parts.push(current.field);
    current = current.operand;
  }
  if (current.kind !== "ident") return undefined;
  parts.push(current.name);
  return parts.reverse().join(".");
}

/** Direct sub-expressions in the order in which they are checked. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "literal":
    case "ident":
      return [];
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "list":
      return expr.elements;
    case "map":
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case "struct":
      return expr.fields.map((field) => field.value);
    case "comprehension":
      return [expr.iterRange, expr.accuInit, expr.loopCondition, expr.loopStep, expr.result];
  }
}
