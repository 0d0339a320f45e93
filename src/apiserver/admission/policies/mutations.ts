/** The mutations of a policy: configurations that are applied and JSON patches, each seeing what those before it made. */
import { compile, toJson, isCelError } from "../../../apimachinery/cel/index.ts";
import type { Program, Value } from "../../../apimachinery/cel/index.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import { mergeTyped } from "../../../apimachinery/managed-fields/typed/merge-typed.ts";
import { typedFaults } from "../../../apimachinery/managed-fields/typed/typed-faults.ts";
import { applyJsonPatch } from "../../../apimachinery/patch/json-patch.ts";
import { PatchError } from "../../../apimachinery/patch/patch-error.ts";
import type { Schema } from "../../../apimachinery/schema.ts";
import type { MutatingAdmissionPolicySpec } from "../../../api/admissionregistration-v1/types.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { evaluationFault } from "../matching/conditions.ts";
import { Evaluator } from "../matching/evaluator.ts";
import type { EvaluationScope, PolicyVariable } from "../matching/evaluator.ts";
import type { RequestView } from "../matching/request-view.ts";
import { replaceObject } from "../webhooks/patch-object.ts";
import { atomicPath } from "./atomic-path.ts";
import { declareVariables } from "./compiled-policy.ts";
import { patchEnvironment } from "./expression-check.ts";

export interface CompiledMutations {
  readonly variables: readonly PolicyVariable[];
  readonly mutations: readonly CompiledMutation[];
}

interface CompiledMutation {
  readonly kind: "apply" | "patch";
  readonly expression: string;
  readonly compiled: Program | { readonly fault: string };
}

/** What the mutations of one policy may cost for a request. */
const costBudget = 10_000_000;

export function compileMutations({ paramKind, variables = [], mutations = [] }: MutatingAdmissionPolicySpec): CompiledMutations {
  const declared = declareVariables(patchEnvironment, variables, paramKind !== undefined);
  return {
    variables: declared.variables,
    mutations: mutations.map(({ applyConfiguration, jsonPatch }) => {
      const expression = applyConfiguration?.expression ?? jsonPatch?.expression ?? "";
      const compilation = compile(declared.environment, expression);
      return {
        kind: applyConfiguration === undefined ? "patch" : "apply",
        expression,
        compiled: "program" in compilation ? compilation.program : { fault: `compilation error: ${compilation.errors}` },
      };
    }),
  };
}

/** Changes the request's object, or says why it cannot. Throws a 500 for a patch whose result is no such object. */
export async function mutateObject(
  { variables, mutations }: CompiledMutations,
  scope: Omit<EvaluationScope, "costBudget" | "variables">,
): Promise<string | undefined> {
  for (const { kind, expression, compiled } of mutations) {
    if ("fault" in compiled) return compiled.fault;
    const result = await new Evaluator({ ...scope, variables, costBudget }).evaluate(compiled);
    if ("error" in result) return result.outOfBudget ? result.error : evaluationFault(expression, result.error);
    const json = toJson(result.value as Value);
    if (isCelError(json)) return evaluationFault(expression, json.message);
    const fault = await (kind === "apply" ? applied(scope.view, json) : patched(scope.view, json));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function applied(view: RequestView, config: JsonValue): Promise<string | undefined> {
  if (!isObject(config) || Object.keys(config).length === 0) return undefined;
  const { group, version, kind } = view.kind;
  const schema: Schema = view.definition.kind === kind ? view.definition.schema : (typeRegistry.kind(group, version, kind) ?? view.definition.schema);
  const faults = typedFaults(config, schema);
  if (faults !== undefined) return `error applying patch: failed to convert patch object to typed object: ${faults}`;
  const atomic = atomicPath(config, schema);
  if (atomic !== undefined) return `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic}`;
  await replaceObject(view, mergeTyped(view.object!, config, schema));
  return undefined;
}

/** A test that fails means that nothing is to be done. */
async function patched(view: RequestView, operations: JsonValue): Promise<string | undefined> {
  if (!Array.isArray(operations) || operations.length === 0) return undefined;
  let next: JsonObject;
  try {
    next = applyJsonPatch(view.object!, operations) as JsonObject;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    return error.message.endsWith("test failed") ? undefined : `JSON Patch: ${error.message}`;
  }
  await replaceObject(view, next, true);
  return undefined;
}
