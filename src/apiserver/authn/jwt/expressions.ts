/** CEL in authentication: variables `claims` and `user`. */
import { createEnvironment } from "../../../apimachinery/cel/environment.ts";
import { activationOf, compile, evaluate } from "../../../apimachinery/cel/program.ts";
import { dynType, mapType, stringType } from "../../../apimachinery/cel/check/types.ts";
import { userInfoType } from "../../../apimachinery/cel/schema/variable-types.ts";
import { childrenOf } from "../../../apimachinery/cel/syntax/ast.ts";
import type { Expr } from "../../../apimachinery/cel/syntax/ast.ts";
import { fromJson } from "../../../apimachinery/cel/eval/json-values.ts";
import { ListValue } from "../../../apimachinery/cel/eval/values.ts";
import { cidrLibrary, ipLibrary } from "../../../apimachinery/cel/library/ip-addresses.ts";
import { listsLibrary } from "../../../apimachinery/cel/library/lists.ts";
import { optionalLibrary } from "../../../apimachinery/cel/library/optionals.ts";
import { regexLibrary } from "../../../apimachinery/cel/library/regex.ts";
import { setsLibrary } from "../../../apimachinery/cel/library/sets.ts";
import { stringsLibrary } from "../../../apimachinery/cel/library/strings.ts";
import { urlsLibrary } from "../../../apimachinery/cel/library/urls.ts";

/** A failed evaluation: the text says why. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

export type CompiledExpression = (values: unknown) => { readonly value: string | boolean | readonly unknown[] | null | undefined };

const objectType = mapType(stringType, dynType);
const libraries = [stringsLibrary, listsLibrary, setsLibrary, regexLibrary, urlsLibrary, optionalLibrary, ipLibrary, cidrLibrary];

/** Compiles once; throws ExpressionError with the compiler's text. `variable` is `claims` or `user`. */
export function compileExpression(variable: "claims" | "user", text: string): CompiledExpression {
  const compilation = compile(environments[variable], text);
  if (!("program" in compilation)) throw new ExpressionError(compilation.errors);
  const { program } = compilation;
  return (values) => {
    const outcome = evaluate(program, activationOf({ [variable]: () => fromJson(values, variable === "user" ? userInfoType : objectType) }));
    if ("error" in outcome) throw new ExpressionError(`expression '${text}' resulted in error: ${outcome.error}`);
    const { value } = outcome;
    if (value === null || typeof value === "string" || typeof value === "boolean") return { value };
    return { value: value instanceof ListValue ? [...value] : undefined };
  };
}

/** Throws ExpressionError for an expression that cannot be used; one of type dyn may still be a boolean. */
export function checkExpression(variable: "claims" | "user", text: string, mustBeBoolean: boolean): void {
  const compilation = compile(environments[variable], text);
  if (!("program" in compilation)) throw new ExpressionError(`compilation failed: ${compilation.errors}`);
  if (mustBeBoolean && compilation.program.type.kind !== "bool") throw new ExpressionError("must evaluate to bool");
}

/** Whether an expression reads this claim, as `claims.name` or `claims.?name`. */
export function readsClaim(text: string, name: string): boolean {
  const compilation = compile(environments.claims, text);
  return "program" in compilation && readsClaimWithin(compilation.program.expr, name);
}

function readsClaimWithin(expr: Expr, name: string): boolean {
  if (expr.kind === "select" && expr.field === name && isClaims(expr.operand)) return true;
  if (expr.kind === "call" && expr.functionName === "_?._" && isClaims(expr.args[0]) && isText(expr.args[1], name)) return true;
  return childrenOf(expr).some((part) => readsClaimWithin(part, name));
}

const isClaims = (expr: Expr | undefined): boolean => expr?.kind === "ident" && expr.name === "claims";
const isText = (expr: Expr | undefined, text: string): boolean => expr?.kind === "literal" && expr.value.type === "string" && expr.value.value === text;

const environments = {
  claims: createEnvironment({ variables: { claims: objectType }, libraries }),
  user: createEnvironment({ variables: { user: userInfoType }, libraries }),
} as const;
