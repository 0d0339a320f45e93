/**
 * What keeps a strategically patched object from becoming one of its type. Upstream turns it into the type without JSON, so that the texts
 * differ from those of decoding.
 */
import { isObject, isRawNumber } from "../json.ts";
import type { JsonValue } from "../json.ts";
import type { ScalarSchema, Schema } from "../schema.ts";
import { goKind } from "./go-text.ts";

/**
 * The first fault, in Go's order of fields: `cannot restore slice from map`, `cannot convert int64 to string`, `unrecognized type: int32`;
 * undefined when there is none. The syntax of texts (times, quantities, base64) is left to the decoder. Does not recurse.
 */
export function structureFault(value: JsonValue, schema: Schema): string | undefined {
  const pending: [value: JsonValue, schema: Schema][] = [[value, schema]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [next, type] = pair;
    if (next === null) continue;
    const fault = faultOf(next, type);
    if (fault !== undefined) return fault;
    const children = childrenOf(next, type);
    for (const child of children.reverse()) pending.push(child);
  }
  return undefined;
}

function faultOf(value: JsonValue, schema: Schema): string | undefined {
  switch (schema.shape) {
    case "struct":
      return isObject(value) ? undefined : `cannot restore struct from: ${goKind(value)}`;
    case "map":
      return isObject(value) ? undefined : `cannot restore map from ${goKind(value)}`;
    case "list":
      return Array.isArray(value) ? undefined : `cannot restore slice from ${goKind(value)}`;
    case "scalar":
      return scalarFault(value, schema);
  }
}

function childrenOf(value: JsonValue, schema: Schema): [JsonValue, Schema][] {
  if (schema.shape === "struct" && isObject(value)) {
    return [...schema.fields.values()].filter(({ name }) => Object.hasOwn(value, name)).map((field) => [value[field.name]!, field.schema]);
  }
  if (schema.shape === "map" && isObject(value)) return Object.values(value).map((member) => [member, schema.values]);
  if (schema.shape === "list" && Array.isArray(value)) return value.map((item) => [item, schema.items]);
  return [];
}

/** Go converts any integer to a string, but the API machinery does not; what Go cannot convert at all it calls an unrecognized type. */
function scalarFault(value: JsonValue, { scalar, goName }: ScalarSchema): string | undefined {
  const kind = goKind(value);
  switch (scalar) {
    case "string":
      if (kind === "string") return undefined;
      return kind === "int64" ? `cannot convert int64 to ${goName}` : "unrecognized type: string";
    case "bool":
      return kind === "bool" ? undefined : "unrecognized type: bool";
    case "bytes":
      return kind === "string" || kind === "slice" ? undefined : `cannot restore slice from ${kind}`;
    case "json":
    case "time":
    case "microTime":
    case "duration":
    case "quantity":
    case "intOrString":
      return undefined;
    case "float32":
    case "float64":
      return kind === "int64" || kind === "float64" ? undefined : `unrecognized type: ${scalar}`;
    default:
      if (kind === "int64") return undefined;
      if (kind !== "float64") return `unrecognized type: ${scalar}`;
      return Number.isInteger(Number(isRawNumber(value) ? value.rawJSON : value)) ? undefined : `cannot convert float64 to ${goName}`;
  }
}
