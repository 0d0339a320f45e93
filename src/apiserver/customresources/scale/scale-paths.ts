/** The fields of a custom resource that its `/scale` shows: dotted paths of the definition (`.spec.replicas`). */
import { invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { isObject, isRawNumber, setMember } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";

export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** Undefined: the resource has no selector. */
  readonly labelSelector: string | undefined;
}

/** Faults of what a scale shows of `object`. */
export function scaleErrors(object: KubeObject, paths: ScalePaths, part: "spec" | "status"): FieldError[] {
  if (part === "spec") return replicasErrors(object, paths.specReplicas);
  const { labelSelector } = paths;
  const selector = labelSelector === undefined ? undefined : valueAt(object, labelSelector);
  const isText = selector === undefined || typeof selector === "string";
  return [
    ...replicasErrors(object, paths.statusReplicas),
    ...(isText ? [] : [invalid(FieldPath.root(labelSelector!), "", accessText(labelSelector!, selector, "string"))]),
  ];
}

function replicasErrors(object: KubeObject, path: string): FieldError[] {
  const value = valueAt(object, path);
  if (value === undefined) return [];
  const field = FieldPath.root(path);
  if (typeof value !== "number" || !Number.isInteger(value)) return [invalid(field, 0, accessText(path, value, "int64"))];
  if (value < 0) return [invalid(field, value, "should be a non-negative integer")];
  return value > maxReplicas ? [invalid(field, value, `should be less than or equal to ${maxReplicas}`)] : [];
}

const maxReplicas = 2_147_483_647;

/** As Go's accessors word a value of another type. */
function accessText(path: string, value: JsonValue, wanted: string): string {
  const shown = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  return `${path} accessor error: ${shown} is of the type ${goType(value)}, expected ${wanted}`;
}

function goType(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (isRawNumber(value)) return "int64";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "object") return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : "string";
}

/** The value at a dotted path, or undefined. */
export function valueAt(object: KubeObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object as unknown as JsonObject;
  for (const name of stepsOf(path)) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Sets the value at a dotted path, making what leads to it. */
export function setValueAt(object: KubeObject, path: string, value: JsonValue): void {
  const steps = stepsOf(path);
  let at = object as unknown as JsonObject;
  for (const name of steps.slice(0, -1)) {
    const next: JsonValue = isObject(at[name]) ? { ...at[name] } : {};
    setMember(at, name, next);
    at = next;
  }
  setMember(at, steps.at(-1)!, value);
}

function stepsOf(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}
