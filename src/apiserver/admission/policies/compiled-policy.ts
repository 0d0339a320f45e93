/** The expressions of a policy, compiled. What does not compile becomes a fault of each request that needs it. */
import { admissionVariables, baseEnvironment, boolType, compile, dynType, nullType, policyVariablesType, stringType } from "../../../apimachinery/cel/index.ts";
import type { CelType, Compilation, Environment, Program } from "../../../apimachinery/cel/index.ts";
import type {
  AuditAnnotation,
  Validation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Variable,
} from "../../../api/admissionregistration-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { compileConditions } from "../matching/conditions.ts";
import type { Condition } from "../matching/conditions.ts";
import type { PolicyVariable } from "../matching/evaluator.ts";
import { compileMatch } from "./match-resources.ts";
import type { ResourceMatch } from "./match-resources.ts";

export interface CompiledPolicy {
  readonly name: string;
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly failsOpen: boolean;
  readonly match: ResourceMatch;
  readonly rules: PolicyRules;
}

export interface PolicyRules {
  readonly conditions: readonly Condition[];
  readonly variables: readonly PolicyVariable[];
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly CompiledAnnotation[];
}

export interface CompiledValidation {
  readonly source: Validation;
  readonly compiled: Program | { readonly fault: string };
  readonly message: Program | undefined;
}

export interface CompiledAnnotation {
  readonly source: AuditAnnotation;
  readonly compiled: Program | { readonly fault: string };
}

/** Expressions are compiled when a request first meets the policy. */
export function compilePolicy(object: KubeObject): CompiledPolicy {
  const { metadata, spec = {} } = object as unknown as ValidatingAdmissionPolicy;
  let rules: PolicyRules | undefined;
  return {
    name: metadata.name!,
    spec,
    failsOpen: spec.failurePolicy === "Ignore",
    match: compileMatch(spec.matchConstraints),
    get rules() {
      return (rules ??= compileRules(spec));
    },
  };
}

export function compileRules({
  paramKind,
  matchConditions = [],
  variables = [],
  validations = [],
  auditAnnotations = [],
}: ValidatingAdmissionPolicySpec): PolicyRules {
  const hasParams = paramKind !== undefined;
  const declared = declareVariables(baseEnvironment, variables, hasParams);
  const { environment } = declared;
  return {
    conditions: compileConditions(matchConditions, hasParams),
    variables: declared.variables,
    validations: validations.map((source) => ({
      source,
      compiled: programOf(compile(environment, source.expression, boolType)),
      message: messageProgram(environment, source),
    })),
    auditAnnotations: auditAnnotations.map((source) => ({ source, compiled: programOf(compile(environment, source.valueExpression, stringType, nullType)) })),
  };
}

/** Each variable may use those before it. One without an expression, not checked yet, is of any type. */
export function declareVariables(
  base: Environment,
  variables: readonly Variable[],
  hasParams: boolean,
  hasAuthorizer = true,
): { readonly environment: Environment; readonly variables: PolicyVariable[] } {
  const types: Record<string, CelType> = {};
  const environmentNow = () => base.withVariables(admissionVariables({ hasParams, hasAuthorizer, variables: policyVariablesType({ ...types }) }));
  const compiled = variables.map(({ name, expression }): PolicyVariable => {
    const compilation = compile(environmentNow(), expression ?? "");
    const program = "program" in compilation ? compilation.program : undefined;
    types[name] = program?.type ?? dynType;
    return { name, program };
  });
  return { environment: environmentNow(), variables: compiled };
}

function programOf(compilation: Compilation): Program | { readonly fault: string } {
  return "program" in compilation ? compilation.program : { fault: `compilation error: ${compilation.errors}` };
}

function messageProgram(environment: Environment, { messageExpression = "" }: Validation): Program | undefined {
  if (messageExpression === "") return undefined;
  const compilation = compile(environment, messageExpression, stringType);
  return "program" in compilation ? compilation.program : undefined;
}
