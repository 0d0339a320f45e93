/** Whether the defaults of a schema are valid by it: what a definition is refused for. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { memberOf, parseStructuralSchema } from "../../apimachinery/structural/structural-schema.ts";
import type { StructuralSchema } from "../../apimachinery/structural/structural-schema.ts";
import { schemaErrors } from "../../apimachinery/structural/validation/validate.ts";
import { valueRuleErrors } from "./rules/cel-rules.ts";
import { embeddedErrors } from "./embedded-resources.ts";

/** Faults of every default in `schema`, which stands at `path`. */
export function schemaDefaultErrors(schema: Readonly<Record<string, unknown>>, path: FieldPath): FieldError[] {
  return defaultErrors(schema as JsonObject, { ...parseStructuralSchema(schema as JsonObject), isEmbeddedResource: true }, path);
}

/** `schema` is what `source` says. */
function defaultErrors(source: JsonObject, schema: StructuralSchema, path: FieldPath): FieldError[] {
  const { properties, additionalProperties, items } = schema;
  return [
    ...ownErrors(source, schema, path.child("default")),
    ...[...properties].flatMap(([name, property]) =>
      defaultErrors((source["properties"] as JsonObject)[name] as JsonObject, property, path.child("properties").key(name)),
    ),
    ...(typeof additionalProperties === "object"
      ? defaultErrors(source["additionalProperties"] as JsonObject, additionalProperties, path.child("additionalProperties"))
      : []),
    ...(items === undefined ? [] : defaultErrors(source["items"] as JsonObject, items, path.child("items"))),
  ];
}

function ownErrors(source: JsonObject, schema: StructuralSchema, path: FieldPath): FieldError[] {
  const value = schema.defaultValue;
  if (value === undefined || value === null) return [];
  const embedded = hasEmbedded(value, schema)
    ? embeddedErrors({ value } as JsonObject, holderOf(schema)).map((error) => ({ ...error, field: error.field.replace(/^value/, path.toString()) }))
    : [];
  if (embedded.length > 0) return embedded;
  const errors = schemaErrors(value, schema, { prefix: path.toString() });
  return errors.length > 0 ? errors : valueRuleErrors(value, source, path);
}

/** A schema around another, so that what it says of its root counts. */
function holderOf(schema: StructuralSchema): StructuralSchema {
  return { ...parseStructuralSchema({ type: "object" }), properties: new Map([["value", schema]]) };
}

function hasEmbedded(value: JsonValue, schema: StructuralSchema): boolean {
  if (schema.isEmbeddedResource) return isObject(value);
  if (Array.isArray(value)) return schema.items !== undefined && value.some((item) => hasEmbedded(item, schema.items!));
  return (
    isObject(value) &&
    Object.entries(value).some(([name, member]) => {
      const inner = memberOf(schema, name);
      return inner !== undefined && hasEmbedded(member, inner);
    })
  );
}
