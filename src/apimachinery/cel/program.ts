/** From text to program to result. */
import { BoundedCache } from "./bounded-cache.ts";
import { check } from "./check/checker.ts";
import type { Checked } from "./check/checker.ts";
import { checkLiterals } from "./check/literal-rules.ts";
import { runtimeTypeName } from "./check/types.ts";
import type { CelType } from "./check/types.ts";
import type { Environment } from "./environment.ts";
import { CostExceeded, Frame } from "./eval/frame.ts";
import type { Activation, Step } from "./eval/frame.ts";
import { PlanError } from "./eval/plan-parts.ts";
import { plan } from "./eval/plan.ts";
import { isCelError } from "./eval/values.ts";
import type { CelError, Value } from "./eval/values.ts";
import { formatIssues } from "./source.ts";
import type { Expr } from "./syntax/ast.ts";
import { parse } from "./syntax/parser.ts";

/** A compiled expression: immutable, usable any number of times. */
export interface Program {
  readonly text: string;
  readonly environment: Environment;
  readonly type: CelType;
  readonly expr: Expr;
  readonly checked: Checked;
  readonly run: Step;
}

export type Compilation =
  | { readonly program: Program }
  /** `phase`: text and types (`compile`), the type of the result (`type`), or conversions of literals (`program`). */
  | { readonly errors: string; readonly phase: "compile" | "type" | "program"; readonly type?: CelType };

/** The limit of one evaluation in Kubernetes. */
export const perCallLimit = 1_000_000;

const compiled = new WeakMap<Environment, BoundedCache<string, Compilation>>();
const keptPerEnvironment = 512;

/**
 * Compiles `text`; the same text in the same environment is compiled once. `expected` are the types that the result may have; a dyn result is
 * not one of them. `errors` is cel-go's text.
 */
export function compile(environment: Environment, text: string, ...expected: readonly CelType[]): Compilation {
  let cache = compiled.get(environment);
  if (cache === undefined) compiled.set(environment, (cache = new BoundedCache(keptPerEnvironment)));
  let compilation = cache.get(text);
  if (compilation === undefined) cache.set(text, (compilation = compileNow(environment, text)));
  if (!("program" in compilation) || expected.length === 0) return compilation;
  const { type } = compilation.program;
  const found = runtimeTypeName(type);
  if (expected.some((each) => runtimeTypeName(each) === found)) return compilation;
  const wanted = expected.map(runtimeTypeName);
  return { errors: `must evaluate to ${wanted.length === 1 ? wanted[0]! : `one of [${wanted.join(" ")}]`} but got ${found}`, phase: "type", type };
}

function compileNow(environment: Environment, text: string): Compilation {
  const parsed = parse(text, environment.macros);
  if ("issues" in parsed) return { errors: formatIssues(text, parsed.issues), phase: "compile" };
  const { expr } = parsed;
  const checked = check(environment, expr);
  const issues = checked.issues.length > 0 ? checked.issues : checkLiterals(expr, checked, environment.literalRules);
  if (issues.length > 0) return { errors: formatIssues(text, issues), phase: "compile" };
  try {
    return { program: { text, environment, type: checked.types.get(expr)!, expr, checked, run: plan(expr, checked, environment.actualCost) } };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return { errors: error.message, phase: "program" };
  }
}

/** Whether a program refers to a variable, such as `oldSelf`. */
export function mentions(program: Program, variable: string): boolean {
  for (const reference of program.checked.references.values()) if (reference.to === "variable" && reference.name === variable) return true;
  return false;
}

export interface EvaluateOptions {
  /** Most that the evaluation may cost; `perCallLimit` unless less. */
  readonly costBudget?: number;
}

/** `isCostExceeded`: the evaluation was stopped; `cost` is then above the limit. */
export type Evaluation =
  | { readonly value: Exclude<Value, CelError>; readonly cost: number }
  | { readonly error: string; readonly cost: number; readonly isCostExceeded: boolean };

/** Runs a program. Variables are values already; see `fromJson`. */
export function evaluate(program: Program, activation: Activation, options: EvaluateOptions = {}): Evaluation {
  const frame = new Frame(activation, Math.min(options.costBudget ?? perCallLimit, perCallLimit));
  try {
    const value = program.run(frame);
    if (isCelError(value)) return { error: value.message, cost: frame.cost, isCostExceeded: false };
    return { value, cost: frame.cost };
  } catch (error) {
    if (error instanceof CostExceeded) return { error: error.message, cost: frame.cost, isCostExceeded: true };
    if (error instanceof RangeError) return { error: `evaluation needs too much memory: ${error.message}`, cost: frame.cost, isCostExceeded: true };
    throw error;
  }
}

/** Variables from a record of values, or of functions that give a value when it is first asked for. */
export function activationOf(variables: Readonly<Record<string, Value | (() => Value)>>): Activation {
  const known = new Map<string, Value>();
  return {
    get(name) {
      if (known.has(name)) return known.get(name);
      const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (typeof given !== "function") return given;
      const value = given();
      known.set(name, value);
      return value;
    },
  };
}
