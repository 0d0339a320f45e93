/** What is refused although it has a type: durations, times and patterns that are written down wrong, and lists and maps of mixed types. */
import type { CelIssue } from "../source.ts";
import { literalValue } from "../eval/literal-value.ts";
import { isCelError } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { childrenOf } from "../syntax/ast.ts";
import type { CallExpr, Expr, ListExpr, MapExpr } from "../syntax/ast.ts";
import type { Checked } from "./checker.ts";
import { formatType, isEquivalentType, unwrapOptional } from "./types.ts";
import type { CelType } from "./types.ts";

export type LiteralRule = (expr: Expr, checked: Checked, ancestors: readonly Expr[]) => readonly CelIssue[];

/** Applies each rule to the whole expression, one rule after the other. */
export function checkLiterals(expr: Expr, checked: Checked, rules: readonly LiteralRule[]): CelIssue[] {
  return rules.flatMap((rule) => walk(expr, checked, rule, []));
}

/** Elements of a list, keys and values of a map must be of one type; arguments of `format` are exempt. */
export const homogeneousLiterals: LiteralRule = (expr, checked, ancestors) => {
  if (expr.kind !== "list" && expr.kind !== "map") return [];
  if (ancestors.some((ancestor) => ancestor.kind === "call" && ancestor.functionName === "format")) return [];
  return expr.kind === "list" ? mixedList(expr, checked) : mixedMap(expr, checked);
};

/** The first argument of a function, when it is a literal, must be one that `convert` makes no error of. */
export function readableLiteral(functionName: string, fault: string, convert: (value: Value) => unknown): LiteralRule {
  return (expr, checked) => {
    const reference = checked.references.get(expr);
    if (expr.kind !== "call" || reference?.to !== "function" || reference.name !== functionName) return [];
    const literal = expr.args[0];
    if (literal?.kind !== "literal" || !isCelError(convert(literalValue(literal.value)))) return [];
    return [{ offset: literal.at, message: fault }];
  };
}

/** A format that is a literal is held against the arguments that are written down. */
export function formatLiteral(
  fault: (format: string, args: readonly Expr[], checked: Checked, call: CallExpr) => { readonly at: number; readonly message: string } | undefined,
): LiteralRule {
  return (expr, checked) => {
    if (expr.kind !== "call" || expr.functionName !== "format") return [];
    const {
      target: format,
      args: [args],
    } = expr;
    if (format?.kind !== "literal" || format.value.type !== "string" || args?.kind !== "list") return [];
    const found = fault(format.value.value, args.elements, checked, expr);
    return found === undefined ? [] : [{ offset: found.at, message: found.message }];
  };
}

function walk(root: Expr, checked: Checked, rule: LiteralRule, ancestors: readonly Expr[]): CelIssue[] {
  const issues = [...rule(root, checked, ancestors)];
  const inner = [...ancestors, root];
  for (const child of childrenOf(root)) issues.push(...walk(child, checked, rule, inner));
  return issues;
}

function mixedList(expr: ListExpr, checked: Checked): CelIssue[] {
  let first: CelType | undefined;
  for (const [index, element] of expr.elements.entries()) {
    const type = itemType(checked, element, expr.optionals.has(index));
    if (first === undefined) first = type;
    else if (!isEquivalentType(first, type)) return [mismatch(element, first, type)];
  }
  return [];
}

function mixedMap(expr: MapExpr, checked: Checked): CelIssue[] {
  const issues: CelIssue[] = [];
  const [first, ...others] = expr.entries;
  if (first === undefined) return [];
  const key = itemType(checked, first.key, false);
  const value = itemType(checked, first.value, first.isOptional);
  for (const entry of others) {
    const [otherKey, otherValue] = [itemType(checked, entry.key, false), itemType(checked, entry.value, entry.isOptional)];
    if (!isEquivalentType(key, otherKey)) issues.push(mismatch(entry.key, key, otherKey));
    if (!isEquivalentType(value, otherValue)) issues.push(mismatch(entry.value, value, otherValue));
  }
  return issues;
}

function itemType(checked: Checked, expr: Expr, isOptional: boolean): CelType {
  const type = checked.types.get(expr)!;
  return isOptional ? (unwrapOptional(type) ?? type) : type;
}

function mismatch(expr: Expr, expected: CelType, found: CelType): CelIssue {
  return { offset: expr.at, message: `expected type '${formatType(expected)}' but found '${formatType(found)}'` };
}
