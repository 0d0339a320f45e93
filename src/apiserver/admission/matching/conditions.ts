/** Match conditions (KEP-3716): expressions that must all be true for a policy or webhook to look at a request. */
import { baseEnvironment, admissionVariables, boolType, compile } from "../../../apimachinery/cel/index.ts";
import type { Program } from "../../../apimachinery/cel/index.ts";
import { Evaluator } from "./evaluator.ts";
import type { EvaluationScope } from "./evaluator.ts";

export interface Condition {
  readonly expression: string;
  readonly compiled: Program | { readonly fault: string };
}

export type ConditionOutcome = "matches" | "does not match" | { readonly fault: string };

/** What all conditions of one policy or webhook may cost for a request. */
const costBudget = 2_500_000;

export function compileConditions(conditions: readonly { readonly expression: string }[], hasParams: boolean): Condition[] {
  if (conditions.length === 0) return [];
  const environment = baseEnvironment.withVariables(admissionVariables({ hasParams }));
  return conditions.map(({ expression }) => {
    const compilation = compile(environment, expression, boolType);
    return { expression, compiled: "program" in compilation ? compilation.program : { fault: `compilation error: ${compilation.errors}` } };
  });
}

/** One that is false decides, whatever others cannot tell. */
export async function checkConditions(conditions: readonly Condition[], scope: Omit<EvaluationScope, "costBudget">): Promise<ConditionOutcome> {
  if (conditions.length === 0) return "matches";
  const evaluator = new Evaluator({ ...scope, costBudget });
  const faults: string[] = [];
  for (const { expression, compiled } of conditions) {
    if ("fault" in compiled) {
      faults.push(compiled.fault);
      continue;
    }
    const result = await evaluator.evaluate(compiled);
    if ("value" in result) {
      if (result.value !== true) return "does not match";
      continue;
    }
    faults.push(result.outOfBudget ? result.error : evaluationFault(expression, result.error));
    if (result.outOfBudget) break;
  }
  if (faults.length === 0) return "matches";
  return { fault: faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]` };
}

export function evaluationFault(expression: string, error: string): string {
  return `expression '${expression}' resulted in error: ${error}`;
}
