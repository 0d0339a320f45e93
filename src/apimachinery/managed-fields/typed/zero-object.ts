/** What an object was before it was created: Go's zero value of its type, as JSON. */
import type { JsonObject, JsonValue } from "../../json.ts";
import type { FieldSchema, ScalarKind, Schema, StructSchema } from "../../schema.ts";

/**
 * The zero value of a kind: members that Go always prints (`spec: {}`, `status: {}`, `containers: null`). A creation is the difference to it,
 * so that these members are not owned by who creates. Custom resources have no Go type and start from nothing.
 */
export function zeroObject(schema: Schema): JsonObject {
  if (schema.shape !== "struct") return {};
  const known = zeros.get(schema);
  if (known !== undefined) return known;
  const zero = zeroStruct(schema);
  zeros.set(schema, zero);
  return zero;
}

const zeros = new WeakMap<StructSchema, JsonObject>();

function zeroStruct(schema: StructSchema): JsonObject {
  const zero: JsonObject = {};
  for (const field of schema.fields.values()) {
    const value = zeroField(field);
    if (value !== undefined) zero[field.name] = value;
  }
  return zero;
}

function zeroField(field: FieldSchema): JsonValue | undefined {
  if (field.omitZero) return undefined;
  if (field.isPointer) return field.omitEmpty ? undefined : null;
  switch (field.schema.shape) {
    case "struct":
      return zeroStruct(field.schema);
    case "map":
    case "list":
      return field.omitEmpty ? undefined : null;
    case "scalar":
      return zeroScalar(field.schema.scalar, field.omitEmpty);
  }
}

/** Scalars that are structs in Go are printed in spite of `omitempty`. */
function zeroScalar(kind: ScalarKind, omitEmpty: boolean): JsonValue | undefined {
  switch (kind) {
    case "time":
    case "microTime":
    case "json":
      return null;
    case "quantity":
      return "0";
    case "intOrString":
      return 0;
    case "duration":
      return "0s";
    case "string":
      return omitEmpty ? undefined : "";
    case "bytes":
      return omitEmpty ? undefined : null;
    case "bool":
      return omitEmpty ? undefined : false;
    default:
      return omitEmpty ? undefined : 0;
  }
}
