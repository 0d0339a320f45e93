/** Compiles the expressions in policies, webhook configurations and device selectors when they are written. */
import {
  admissionVariables,
  baseEnvironment,
  boolType,
  compile,
  deviceEnvironment,
  deviceType,
  dynType,
  estimateCost,
  jsonPatchType,
  listType,
  mutationEnvironment,
  nullType,
  objectLiteralType,
  perCallLimit,
  runtimeTypeName,
  stringType,
} from "../../../apimachinery/cel/index.ts";
import type { CelType, CostNode, Environment, Range } from "../../../apimachinery/cel/index.ts";
import { forbidden, invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import type { ExpressionCheck } from "../../../api/strategy.ts";
import { declareVariables } from "./compiled-policy.ts";

type FailedCompilation = Exclude<ReturnType<typeof compile>, { readonly program: unknown }>;

/** Nothing, or the one fault of an expression. */
export function expressionErrors(check: ExpressionCheck, path: FieldPath): FieldError[] {
  const { expression, returns } = check;
  const compilation = compile(environmentOf(check), expression, ...returns.map(typeCalled));
  if ("program" in compilation) {
    const isTooCostly = check.environment === "device" && estimateCost(compilation.program, sizeInDevice).max > perCallLimit;
    return isTooCostly ? [forbidden(path, "too complex, exceeds cost limit")] : [];
  }
  return [invalid(path, expression, textOf(check, compilation))];
}

/** How large the parts of a device can be: the limits of ResourceSlices (resource.k8s.io/v1, DeviceAttribute and QualifiedName). */
function sizeInDevice({ path }: CostNode): Range | undefined {
  if (path === undefined || path.length === 0) return undefined;
  const [, member, ...below] = path;
  if (member === "driver") return { min: 0, max: 63 };
  const isMap = member !== undefined && below.length < 2 && !below.includes("@keys");
  if (isMap) return { min: 0, max: 32 };
  // Names of domains and of attributes, and their texts.
  return { min: 0, max: 64 };
}

function textOf({ environment }: ExpressionCheck, { phase, errors, type }: FailedCompilation): string {
  if (phase !== "type") return `compilation failed: ${errors}`;
  return environment === "device" ? `must evaluate to bool or the unknown type, not ${runtimeTypeName(type!)}` : errors;
}

/** With object literals such as `Object.spec`, whose fields nobody knows. */
export const patchEnvironment: Environment = mutationEnvironment.withVariables({}, objectLiteralType);
const devices: Environment = deviceEnvironment.withVariables({ device: deviceType });

function environmentOf({ environment, hasParams, hasAuthorizer, hasPatchTypes, variables, isVariable }: ExpressionCheck): Environment {
  if (environment === "device") return devices;
  const base = hasPatchTypes === true ? patchEnvironment : baseEnvironment;
  if (variables.length === 0 && isVariable !== true) return base.withVariables(admissionVariables({ hasParams, hasAuthorizer }));
  return declareVariables(base, variables, hasParams, hasAuthorizer).environment;
}

function typeCalled(name: string): CelType {
  switch (name) {
    case "bool":
      return boolType;
    case "string":
      return stringType;
    case "null_type":
      return nullType;
    case "Object":
      return objectLiteralType("Object")!;
    case "list":
    case "list(JSONPatch)":
      return listType(jsonPatchType);
    default:
      return dynType;
  }
}
