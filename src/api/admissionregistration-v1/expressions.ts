/** Rules of CEL expressions in webhook configurations and policies; the compiler comes from the server. */
import { duplicate, invalid, invalidEach, required, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isQualifiedName } from "../../apimachinery/names.ts";
import type { ExpressionCheck, RuleContext } from "../strategy.ts";
import type { MatchCondition, Variable } from "./types.ts";
import { keywords } from "../../apimachinery/cel/schema/property-names.ts";

const maxMatchConditions = 64;

/** Faults of an expression that is there, as its compiler tells them. */
export function validateExpression(
  expression: string,
  check: Omit<ExpressionCheck, "environment" | "expression">,
  context: RuleContext,
  path: FieldPath,
): FieldError[] {
  return context.checkExpression?.({ ...check, environment: "admission", expression }, path) ?? [];
}

/** `old`: conditions stored before; expressions among them are not compiled again. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  old: readonly MatchCondition[],
  hasParams: boolean,
  context: RuleContext,
  path: FieldPath,
): FieldError[] {
  const known = new Set(old.map(({ expression }) => expression));
  const seen = new Set<string>();
  const errors = conditions.length > maxMatchConditions ? [tooMany(path, conditions.length, maxMatchConditions)] : [];
  conditions.forEach(({ name = "", expression = "" }, index) => {
    const at = path.index(index);
    if (expression.trim() === "") errors.push(required(at.child("expression")));
    else if (!known.has(expression))
      errors.push(...validateExpression(expression, { hasParams, hasAuthorizer: true, variables: [], returns: ["bool"] }, context, at.child("expression")));
    if (name === "") errors.push(required(at.child("name")));
    else errors.push(...invalidEach(at.child("name"), name, isQualifiedName(name)));
    if (name !== "" && seen.has(name)) errors.push(duplicate(at.child("name"), name));
    seen.add(name);
  });
  return errors;
}

/** Variables that expressions after them may use, each with those before it. */
export function validateVariables(variables: readonly Variable[], hasParams: boolean, context: RuleContext, path: FieldPath): FieldError[] {
  return variables.flatMap(({ name = "", expression = "" }, index) => {
    const at = path.index(index);
    const errors: FieldError[] = [];
    const isIdentifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !keywords.has(name);
    if (name.trim() === "") errors.push(required(at.child("name"), "name is not specified"));
    else if (!isIdentifier) errors.push(invalid(at.child("name"), name, "must be a valid CEL identifier"));
    if (expression.trim() === "") errors.push(required(at.child("expression"), "expression is not specified"));
    else
      errors.push(
        ...validateExpression(
          expression,
          { hasParams, hasAuthorizer: true, variables: variables.slice(0, index), isVariable: true, returns: [] },
          context,
          at.child("expression"),
        ),
      );
    return errors;
  });
}
