/** Types of custom resources, from the structural schemas of their definitions. */
import { boolType, bytesType, doubleType, durationType, intType, stringType, timestampType } from "../check/types.ts";
import { declaredDyn, listOf, mapOf, maxTextLength, objectOf, scalarOf } from "./declared-type.ts";
import type { DeclaredType } from "./declared-type.ts";

/** The part of a structural schema (OpenAPI v3) that types follow from. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}

/**
 * The type of `self` at a schema; undefined where expressions have no access. Objects are called `name`, those inside `name.field`,
 * `name.@idx`, `name.@elem`. `isResourceRoot`: apiVersion, kind, metadata.name and metadata.generateName are there whatever the schema says.
 */
export function structuralType(schema: StructuralSchema, name: string, isResourceRoot = false): DeclaredType | undefined {
  if (schema["x-kubernetes-int-or-string"] === true)
    return { ...declaredDyn, maxElements: schema.maxLength === undefined ? maxTextLength : Math.max(schema.maxLength, 0) * 4 };
  if (isResourceRoot) return objectType(withObjectMeta(schema), name);
  switch (schema.type) {
    case "array":
      return arrayType(schema, name);
    case "object":
      return objectType(schema, name);
    case "string":
      return textType(schema);
    case "boolean":
      return scalarOf(boolType, 4);
    case "number":
      return scalarOf(doubleType, 1);
    case "integer":
      return scalarOf(intType, 1);
    default:
      return undefined;
  }
}

function inner(schema: StructuralSchema, name: string): DeclaredType | undefined {
  return structuralType(schema, name, schema["x-kubernetes-embedded-resource"] === true);
}

function arrayType(schema: StructuralSchema, name: string): DeclaredType | undefined {
  const items = schema.items === undefined ? undefined : inner(schema.items, `${name}.@idx`);
  if (items === undefined) return undefined;
  const kind = schema["x-kubernetes-list-type"];
  const keys = kind === "set" ? [] : kind === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
  return listOf(items, schema.maxItems, keys);
}

function objectType(schema: StructuralSchema, name: string): DeclaredType | undefined {
  if (typeof schema.additionalProperties === "object") {
    const values = inner(schema.additionalProperties, `${name}.@elem`);
    return values && mapOf(values, schema.maxProperties);
  }
  const required = new Set(schema.required);
  const members = new Map<string, DeclaredType>();
  let minSize = 2;
  for (const [property, propertySchema] of Object.entries(schema.properties ?? {})) {
    const type = inner(propertySchema, `${name}.${property}`);
    if (type === undefined) continue;
    members.set(property, type);
    if (required.has(property) && propertySchema.default === undefined) minSize += Buffer.byteLength(property) + type.minSize + 4;
  }
  return objectOf(name, members, minSize);
}

function textType(schema: StructuralSchema): DeclaredType {
  switch (schema.format) {
    case "byte":
      return scalarOf(bytesType, 2, schema.maxLength === undefined ? maxTextLength : Math.max(schema.maxLength, 0));
    case "duration":
      return scalarOf(durationType, 3, 32);
    case "date":
      return scalarOf(timestampType, 12, 12);
    case "date-time":
      return scalarOf(timestampType, 21, 32);
  }
  // Lengths are limited in characters, sizes counted in bytes.
  if (schema.maxLength !== undefined) return scalarOf(stringType, 2, Math.max(schema.maxLength, 0) * 4);
  const words = (schema.enum ?? []).filter((word) => typeof word === "string");
  return scalarOf(stringType, 2, (schema.enum?.length ?? 0) > 0 ? Math.max(0, ...words.map((word) => Buffer.byteLength(word))) : maxTextLength);
}

const text: StructuralSchema = { type: "string" };

function withObjectMeta(schema: StructuralSchema): StructuralSchema {
  const metadata: StructuralSchema = { type: "object", properties: { name: text, generateName: text } };
  const { properties } = schema;
  const known = properties?.["metadata"];
  const isComplete =
    properties?.["kind"]?.type === "string" &&
    properties["apiVersion"]?.type === "string" &&
    known?.type === "object" &&
    known.properties?.["name"]?.type === "string" &&
    known.properties["generateName"]?.type === "string";
  return isComplete ? schema : { ...schema, type: "object", properties: { ...properties, kind: text, apiVersion: text, metadata } };
}
