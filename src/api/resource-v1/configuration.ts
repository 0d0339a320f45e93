/** Selectors of devices and parameters for their drivers, in classes and in claims. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isObject } from "../../apimachinery/json.ts";
import { byteLength } from "../../apimachinery/names.ts";
import type { RuleContext } from "../strategy.ts";
import { validateDriverReference } from "./device-names.ts";
import type { DeviceClassConfiguration, DeviceSelector } from "./types.ts";

const maxExpressionBytes = 10 * 1024;
const maxParametersBytes = 10 * 1024;

export function validateSelector({ cel }: DeviceSelector, context: RuleContext, path: FieldPath): FieldError[] {
  if (cel === undefined) return [required(path.child("cel"))];
  const at = path.child("cel", "expression");
  const expression = cel.expression ?? "";
  if (byteLength(expression) > maxExpressionBytes) return [tooLong(at, maxExpressionBytes)];
  return (
    context.checkExpression?.({ expression, environment: "device", hasParams: false, hasAuthorizer: false, variables: [], returns: ["bool", "dyn"] }, at) ?? []
  );
}

export function validateConfiguration({ opaque }: DeviceClassConfiguration, path: FieldPath): FieldError[] {
  if (opaque === undefined) return [required(path.child("opaque"))];
  return [
    ...validateDriverReference(opaque.driver ?? "", path.child("opaque", "driver")),
    ...validateParameters(opaque.parameters, path.child("opaque", "parameters")),
  ];
}

/** Parameters that only their driver understands. */
export function validateParameters(parameters: unknown, path: FieldPath): FieldError[] {
  if (parameters === undefined || parameters === null) return [required(path)];
  if (byteLength(JSON.stringify(parameters)) > maxParametersBytes) return [tooLong(path, maxParametersBytes)];
  return isObject(parameters) ? [] : [invalid(path, "<value omitted>", "must be a valid JSON object")];
}
