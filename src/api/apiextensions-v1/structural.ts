/** Structural schemas: every field has one type, told outside of `allOf`, `anyOf`, `oneOf` and `not` (KEP-1002). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { fieldErrorText, forbidden, invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { validateCompleteness } from "./completeness.ts";
import { additionalSchema, childSchemas, itemsSchema } from "./schema-children.ts";
import type { JSONSchemaProps } from "./types.ts";

/** Faults in the order of their texts. */
export function validateStructural(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  const errors = [...validateLevel(schema, "root", path), ...validateCompleteness(schema, path)];
  return errors
    .map((error) => ({ error, text: fieldErrorText(error) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ error }) => error);
}

type Level = "field" | "item" | "root";

const missingTypes: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function validateLevel(schema: JSONSchemaProps, level: Level, path: FieldPath): FieldError[] {
  const items = itemsSchema(schema);
  const additional = additionalSchema(schema);
  return [
    ...(items === undefined ? [] : validateLevel(items, "item", path.child("items"))),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => validateLevel(property, "field", path.child("properties").key(name))),
    ...(schema.additionalProperties !== undefined && level === "root" ? [forbidden(path.child("additionalProperties"), "must not be used at the root")] : []),
    ...(additional === undefined ? [] : validateLevel(additional, "field", path.child("additionalProperties"))),
    ...validateIntOrString(schema, path),
    ...validateNestedOf(schema, path, intOrStringPlace(schema)),
    ...validateType(schema, level, path),
    ...(level === "root" || schema["x-kubernetes-embedded-resource"] === true ? validateObjectFields(schema, level === "root", path) : []),
    ...validateEmbedded(schema, path),
  ];
}

function validateType(schema: JSONSchemaProps, level: Level, path: FieldPath): FieldError[] {
  const { type = "", items } = schema;
  const errors: FieldError[] = [];
  const at = path.child("type");
  const embedded = "must be object if x-kubernetes-embedded-resource is true";
  const isFree = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (type === "array" && items === undefined) errors.push(required(path.child("items"), "must be specified"));
  if (schema["x-kubernetes-embedded-resource"] === true && type !== "object") errors.push(type === "" ? required(at, embedded) : invalid(at, type, embedded));
  else if (type === "" && !isFree) errors.push(required(at, missingTypes[level]));
  if (level === "root" && type !== "" && type !== "object") errors.push(invalid(at, type, "must be object at the root"));
  return errors;
}

function validateIntOrString(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  if (schema["x-kubernetes-int-or-string"] !== true) return [];
  return (["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const)
    .filter((name) => schema[name] === true)
    .map((name) => invalid(path.child(name), true, "must be false if x-kubernetes-int-or-string is true"));
}

function validateEmbedded(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  if (schema["x-kubernetes-embedded-resource"] !== true) return [];
  const errors: FieldError[] = [];
  if (schema.additionalProperties !== undefined)
    errors.push(forbidden(path.child("additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set"));
  if (schema["x-kubernetes-preserve-unknown-fields"] !== true && Object.keys(schema.properties ?? {}).length === 0) {
    errors.push(required(path.child("properties"), "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"));
  }
  return errors;
}

/** Fields that every object has: of the metadata at the root only names may be narrowed. */
function validateObjectFields({ properties = {} }: JSONSchemaProps, isRoot: boolean, path: FieldPath): FieldError[] {
  const at = (name: string) => path.child("properties").key(name);
  const errors = ["apiVersion", "kind"]
    .filter((name) => properties[name] !== undefined && properties[name].type !== "string")
    .map((name) => invalid(at(name).child("type"), properties[name]!.type ?? "", "must be string"));
  const { metadata } = properties;
  if (metadata === undefined) return errors;
  if (metadata.type !== "object") errors.push(invalid(at("metadata").child("type"), metadata.type ?? "", "must be object"));
  if (!isRoot) return errors;
  const { type: _type, default: _default, properties: fields = {}, ...rest } = metadata;
  const isMore =
    Object.keys(fields).some((name) => name !== "name" && name !== "generateName") ||
    Object.values(rest).some((value) => value !== undefined && value !== false && value !== "");
  if (isMore) errors.push(forbidden(at("metadata"), "must not specify anything other than name and generateName, but metadata is implicitly specified"));
  return errors;
}

const intOrString = [{ type: "integer" }, { type: "string" }];

/** Where the one legal `anyOf` with types stands: in the schema, in the first of its `allOf`, or nowhere. */
function intOrStringPlace(schema: JSONSchemaProps): "allOf" | "anyOf" | undefined {
  if (schema["x-kubernetes-int-or-string"] !== true) return undefined;
  if (deepEqual(schema.anyOf, intOrString)) return "anyOf";
  return deepEqual(schema.allOf?.[0]?.anyOf, intOrString) ? "allOf" : undefined;
}

function validateNestedOf(schema: JSONSchemaProps, path: FieldPath, exempt?: "allOf" | "anyOf"): FieldError[] {
  return childSchemas(schema)
    .filter(({ field }) => ["allOf", "anyOf", "oneOf", "not"].includes(field) && !(field === "anyOf" && exempt === "anyOf"))
    .flatMap((child) => validateNested(child.schema, child.path(path), exempt === "allOf" && child.schema === schema.allOf?.[0] ? "anyOf" : undefined));
}

/** [field, text]. */
const forbiddenFields: readonly (readonly [name: keyof JSONSchemaProps, text: string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
];

function validateNested(schema: JSONSchemaProps, path: FieldPath, exempt?: "anyOf"): FieldError[] {
  const items = itemsSchema(schema);
  const isSet = (value: unknown) => value !== undefined && value !== false && value !== "" && !(Array.isArray(value) && value.length === 0);
  return [
    ...validateNestedOf(schema, path, exempt),
    ...(items === undefined ? [] : validateNested(items, path.child("items"))),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => validateNested(property, path.child("properties").key(name))),
    ...forbiddenFields
      .filter(([name]) => (name === "additionalProperties" || name === "default" ? schema[name] !== undefined : isSet(schema[name])))
      .map(([name, text]) => forbidden(path.child(name), text)),
    ...(schema.properties?.["metadata"] !== undefined && path.toString().split("properties").length === 2
      ? [forbidden(path.child("properties").key("metadata"), "must not be specified in a nested context")]
      : []),
  ];
}
