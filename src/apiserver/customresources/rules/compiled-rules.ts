/** `x-kubernetes-validations` of one schema, compiled. */
import {
  baseEnvironment,
  compile,
  estimateCost,
  mentions,
  optionalType,
  sizeOfDeclared,
  stringType,
  boolType,
  structuralType,
} from "../../../apimachinery/cel/index.ts";
import type { DeclaredType, Program } from "../../../apimachinery/cel/index.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";

/** apiextensions/v1 ValidationRule. */
export interface RuleSource {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface CompiledRule {
  readonly source: RuleSource;
  /** Absent when the rule has a fault. */
  readonly program?: Program;
  readonly fault?: string;
  /** Whether it compares with what was there before. */
  readonly usesOldSelf: boolean;
  readonly messageProgram?: Program;
  readonly messageFault?: string;
}

export interface CompiledRules {
  readonly declared: DeclaredType;
  readonly rules: readonly CompiledRule[];
}

export function rulesOf(schema: JsonObject): readonly RuleSource[] {
  return (schema["x-kubernetes-validations"] as unknown as RuleSource[] | undefined) ?? [];
}

/** The rules of `schema` itself; undefined when expressions have no access to such data. */
export function compileRules(schema: JsonObject, isResourceRoot: boolean): CompiledRules | undefined {
  const declared = structuralType(schema as Parameters<typeof structuralType>[0], "selfType1", isResourceRoot);
  return declared && { declared, rules: rulesOf(schema).map((source) => compileRule(source, declared)) };
}

function compileRule(source: RuleSource, declared: DeclaredType): CompiledRule {
  const self = declared.type;
  const environment = baseEnvironment.withVariables({ self, oldSelf: source.optionalOldSelf === true ? optionalType(self) : self });
  const compiled = compile(environment, source.rule, boolType);
  if (!("program" in compiled))
    return {
      source,
      usesOldSelf: false,
      fault: compiled.phase === "type" ? "cel expression must evaluate to a bool" : `compilation failed: ${compiled.errors}`,
    };
  const { program } = compiled;
  const usesOldSelf = mentions(program, "oldSelf");
  if ((source.messageExpression ?? "") === "") return { source, program, usesOldSelf };
  const message = compile(environment, source.messageExpression!, stringType);
  if ("program" in message) return { source, program, usesOldSelf, messageProgram: message.program };
  return {
    source,
    program,
    usesOldSelf,
    messageFault: message.phase === "type" ? "messageExpression must evaluate to a string" : `messageExpression compilation failed: ${message.errors}`,
  };
}

/** The most that a program may cost for one value. */
export function worstCost(program: Program, declared: DeclaredType): number {
  return estimateCost(program, sizeOfDeclared(declared)).max;
}
