/** A structural schema as server-side apply and managed fields read schemas. */
import { freeForm } from "../managed-fields/typed/typed-shape.ts";
import type { JsonValue } from "../json.ts";
import type { FieldSchema, ListSchema, MapSchema, ScalarKind, Schema, StructSchema } from "../schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** The schema of a whole custom resource; `metadata` is ObjectMeta's schema. */
export function typedSchema(schema: StructuralSchema, metadata: StructSchema): StructSchema {
  const typed = typedObject(schema, metadata);
  const root: StructSchema = typed.shape === "struct" ? typed : emptyStruct();
  const fields = new Map(root.fields);
  fields.set("kind", field("kind", scalar("string")));
  fields.set("apiVersion", field("apiVersion", scalar("string")));
  fields.set("metadata", field("metadata", metadata));
  return { ...root, fields, isAtomic: false };
}

function typedValue(schema: StructuralSchema, metadata: StructSchema): Schema {
  if (schema.isIntOrString) return scalar("intOrString");
  switch (schema.type) {
    case "object":
      return typedObject(schema, metadata);
    case "array":
      return typedList(schema, metadata);
    case "string":
      return scalar("string");
    case "integer":
      return scalar("int64");
    case "number":
      return scalar("float64");
    case "boolean":
      return scalar("bool");
    default:
      return freeForm;
  }
}

function typedObject(schema: StructuralSchema, metadata: StructSchema): StructSchema | MapSchema {
  const { properties, additionalProperties, preservesUnknownFields, isEmbeddedResource, hasAtomicMap } = schema;
  if (properties.size === 0 && typeof additionalProperties === "object")
    return { shape: "map", values: typedValue(additionalProperties, metadata), isAtomic: hasAtomicMap, goName: "map" };
  const fields = new Map<string, FieldSchema>();
  if (isEmbeddedResource) {
    for (const name of ["apiVersion", "kind"]) fields.set(name, field(name, scalar("string")));
    fields.set("metadata", field("metadata", metadata));
  }
  for (const [name, property] of properties)
    fields.set(name, field(name, isEmbeddedResource && name === "metadata" ? metadata : typedValue(property, metadata), property.defaultValue));
  // An object that says nothing of its members is open to all of them.
  const isOpen = preservesUnknownFields || additionalProperties === true || (properties.size === 0 && !isEmbeddedResource);
  return { ...emptyStruct(), fields, isAtomic: hasAtomicMap, ...(isOpen && { unknownFields: freeForm }) };
}

function typedList(schema: StructuralSchema, metadata: StructSchema): ListSchema {
  return {
    shape: "list",
    items: schema.items === undefined ? freeForm : typedValue(schema.items, metadata),
    itemsArePointers: false,
    listType: schema.listType,
    listMapKeys: schema.listMapKeys,
    goName: "[]",
  };
}

function emptyStruct(): StructSchema {
  return { shape: "struct", name: "", goName: "", fields: new Map(), isAtomic: false, gvk: [], unions: [] };
}

function scalar(kind: ScalarKind): Schema {
  return { shape: "scalar", scalar: kind, goName: kind };
}

function field(name: string, schema: Schema, defaultValue?: JsonValue): FieldSchema {
  return {
    ...(defaultValue !== undefined && { defaultValue }),
    name,
    schema,
    isPointer: true,
    omitEmpty: true,
    omitZero: false,
    protobufNumber: 0,
    isRequired: false,
    values: [],
    embedded: [],
    patchStrategy: [],
  };
}
