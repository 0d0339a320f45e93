/** What schemas of custom resources may not hold, at any depth, and rules of the list and map extensions. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { regExpFault } from "../../apimachinery/go/go-regexp.ts";
import { validateListMap, validateListSet } from "./list-rules.ts";
import { childSchemas } from "./schema-children.ts";
import type { JSONSchemaProps } from "./types.ts";

const types = ["array", "boolean", "integer", "number", "object", "string"];

interface Place {
  readonly isRoot: boolean;
  /** Inside of the metadata of an object. */
  readonly isInMetadata: boolean;
  /** Why defaults are refused; undefined: they are not. */
  readonly noDefaults?: string;
}

export function validateSchema(schema: JSONSchemaProps, path: FieldPath, place: Place = { isRoot: true, isInMetadata: false }): FieldError[] {
  const isObjectRoot = place.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const children = childSchemas(schema).flatMap((child) => {
    const isMetadata = isObjectRoot && child.field === "properties" && child.name === "metadata";
    const noDefaults = isMetadata && place.isRoot ? " in top-level metadata" : place.noDefaults;
    return validateSchema(child.schema, child.path(path), {
      isRoot: false,
      isInMetadata: place.isInMetadata || isMetadata,
      ...(noDefaults !== undefined && { noDefaults }),
    });
  });
  return [...validateUnsupported(schema, place, path), ...validateAdditional(schema, path), ...children, ...validateExtensions(schema, path)];
}

/** Fields with [name, whether an empty value counts]. */
const unsupported: readonly (readonly [name: keyof JSONSchemaProps, countsEmpty: boolean])[] = [
  ["id", false],
  ["additionalItems", true],
  ["patternProperties", false],
  ["definitions", false],
  ["dependencies", false],
  ["$ref", true],
];

export function unsupportedFields(schema: JSONSchemaProps): string[] {
  const isEmpty = (value: unknown) => value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return unsupported.filter(([name, countsEmpty]) => schema[name] !== undefined && (countsEmpty || !isEmpty(schema[name]))).map(([name]) => name);
}

function validateUnsupported(schema: JSONSchemaProps, { isInMetadata, noDefaults }: Place, path: FieldPath): FieldError[] {
  const { type = "", pattern = "", items } = schema;
  const errors: FieldError[] = [];
  if (type !== "" && !types.includes(type)) errors.push(notSupported(path.child("type"), type, types));
  if (schema.default !== undefined && noDefaults !== undefined) errors.push(forbidden(path.child("default"), `must not be set${noDefaults}`));
  errors.push(...unsupportedFields(schema).map((name) => forbidden(path.child(name), `${name} is not supported`)));
  if (type === "null") errors.push(forbidden(path.child("type"), "type cannot be set to null, use nullable as an alternative"));
  if (Array.isArray(items) && items.length > 0) errors.push(forbidden(path.child("items"), "items must be a schema object and not an array"));
  if (isInMetadata && schema["x-kubernetes-embedded-resource"] === true)
    errors.push(forbidden(path.child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta"));
  const fault = pattern === "" ? undefined : regExpFault(pattern);
  if (fault !== undefined) errors.push(invalid(path.child("pattern"), pattern, `must be a valid regular expression, but isn't: ${fault}`));
  if (schema.uniqueItems === true)
    errors.push(forbidden(path.child("uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
  return errors;
}

/** Ignoring unknown fields is the API's custom; both at once would contradict it. */
function validateAdditional({ additionalProperties, properties = {} }: JSONSchemaProps, path: FieldPath): FieldError[] {
  if (Object.keys(properties).length === 0 || additionalProperties === undefined || additionalProperties === true) return [];
  return [forbidden(path.child("additionalProperties"), "additionalProperties and properties are mutual exclusive")];
}

function validateExtensions(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  const listType = schema["x-kubernetes-list-type"];
  const mapType = schema["x-kubernetes-map-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const errors: FieldError[] = [];
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(invalid(path.child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"));
  if (mapType !== undefined) errors.push(...validateExtension(schema, "x-kubernetes-map-type", "object", ["atomic", "granular"], path));
  if (listType !== undefined) errors.push(...validateExtension(schema, "x-kubernetes-list-type", "array", ["atomic", "set", "map"], path));
  if (keys.length > 0 && listType !== "map") {
    const at = path.child("x-kubernetes-list-type");
    const text = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.push(listType === undefined ? required(at, text) : invalid(at, listType, text));
  }
  if (listType === "map") errors.push(...validateListMap(schema, keys, path));
  if (listType === "set") errors.push(...validateListSet(schema, path));
  return errors;
}

function validateExtension(
  schema: JSONSchemaProps,
  name: "x-kubernetes-list-type" | "x-kubernetes-map-type",
  type: string,
  values: readonly string[],
  path: FieldPath,
): FieldError[] {
  const text = `must be ${type} if ${name} is specified`;
  const errors: FieldError[] = [];
  if (!schema.type) errors.push(required(path.child("type"), text));
  else if (schema.type !== type) errors.push(invalid(path.child("type"), schema.type, text));
  const value = schema[name]!;
  return values.includes(value) ? errors : [...errors, notSupported(path.child(name), value, values)];
}
