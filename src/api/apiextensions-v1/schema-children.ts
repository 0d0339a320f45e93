/** The schemas inside a schema, and how the two fields that may also be something else are read. */
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JSONSchemaProps } from "./types.ts";

export interface ChildSchema {
  readonly schema: JSONSchemaProps;
  /** The field that holds it. */
  readonly field: "additionalProperties" | "allOf" | "anyOf" | "items" | "not" | "oneOf" | "properties";
  /** Name of the property. */
  readonly name?: string;
  path(parent: FieldPath): FieldPath;
}

/** In the order in which they are checked, properties by name. */
export function childSchemas(schema: JSONSchemaProps): ChildSchema[] {
  const additional = additionalSchema(schema);
  const items = itemsSchema(schema);
  const lists = (["allOf", "oneOf", "anyOf"] as const).flatMap((field) =>
    (schema[field] ?? []).map((child, index): ChildSchema => ({ schema: child, field, path: (parent) => parent.child(field).index(index) })),
  );
  return [
    ...(additional === undefined ? [] : [childOf(additional, "additionalProperties")]),
    ...Object.keys(schema.properties ?? {})
      .sort()
      .map((name): ChildSchema => ({ schema: schema.properties![name]!, field: "properties", name, path: (parent) => parent.child("properties").key(name) })),
    ...(schema.not === undefined ? [] : [childOf(schema.not, "not")]),
    ...lists,
    ...(items === undefined ? [] : [childOf(items, "items")]),
  ];
}

/** `additionalProperties` may be a boolean, too. */
export function additionalSchema({ additionalProperties }: JSONSchemaProps): JSONSchemaProps | undefined {
  return isObject(additionalProperties) ? (additionalProperties as JSONSchemaProps) : undefined;
}

/** `items` may be a list, too. */
export function itemsSchema({ items }: JSONSchemaProps): JSONSchemaProps | undefined {
  return isObject(items) ? (items as JSONSchemaProps) : undefined;
}

function childOf(schema: JSONSchemaProps, field: "additionalProperties" | "items" | "not"): ChildSchema {
  return { schema, field, path: (parent) => parent.child(field) };
}
