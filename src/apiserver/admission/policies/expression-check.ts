/** Compiles the expressions in policies, webhook configurations and device selectors when they are written. */
import {
  admissionVariables,
  baseEnvironment,
  boolType,
  compile,
  deviceEnvironment,
  deviceType,
  dynType,
  jsonPatchType,
  listType,
  mutationEnvironment,
  nullType,
  objectLiteralType,
  runtimeTypeName,
  stringType,
} from "../../../apimachinery/cel/index.ts";
import type { CelType, Environment } from "../../../apimachinery/cel/index.ts";
import { invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import type { ExpressionCheck } from "../../../api/strategy.ts";
import { declareVariables } from "./compiled-policy.ts";

type FailedCompilation = Exclude<ReturnType<typeof compile>, { readonly program: unknown }>;

/** Nothing, or the one fault of an expression. */
export function expressionErrors(check: ExpressionCheck, path: FieldPath): FieldError[] {
  const { expression, returns } = check;
  const compilation = compile(environmentOf(check), expression, ...returns.map(typeCalled));
  if ("program" in compilation) return [];
  return [invalid(path, expression, textOf(check, compilation))];
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
