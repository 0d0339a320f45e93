/** Rules of lists whose items are told apart: by keys, or as values of a set (KEP-555). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { itemsSchema } from "./schema-children.ts";
import type { JSONSchemaProps } from "./types.ts";

export function validateListMap(schema: JSONSchemaProps, keys: readonly string[], path: FieldPath): FieldError[] {
  const keysPath = path.child("x-kubernetes-list-map-keys");
  const itemsPath = path.child("items");
  const items = itemsSchema(schema);
  const errors: FieldError[] = [];
  if (keys.length === 0) errors.push(required(keysPath, "must not be empty if x-kubernetes-list-type is map"));
  if (schema.items === undefined) errors.push(required(itemsPath, "must have a schema if x-kubernetes-list-type is map"));
  if (items === undefined) return errors;
  if (items.type !== "object")
    return [...errors, invalid(itemsPath.child("type"), items.type ?? "", "must be object if parent array's x-kubernetes-list-type is map")];
  const seen = new Set<string>();
  for (const key of keys) {
    const property = items.properties?.[key];
    const at = itemsPath.child("properties").key(key);
    if (property === undefined) errors.push(invalid(keysPath, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object")
      errors.push(invalid(at.child("type"), property.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    if (seen.has(key)) errors.push(invalid(keysPath, keys, "must not contain duplicate entries"));
    seen.add(key);
  }
  if (items.nullable === true) errors.push(forbidden(itemsPath.child("nullable"), "cannot be nullable when x-kubernetes-list-type is map"));
  return [...errors, ...keys.flatMap((key) => validateKey(items, key, itemsPath.child("properties").key(key)))];
}

/** Every item must have each key. */
function validateKey(items: JSONSchemaProps, key: string, path: FieldPath): FieldError[] {
  const property = items.properties?.[key];
  if (property === undefined) return [];
  const isThere = property.default !== undefined || items.required?.includes(key) === true;
  return [
    ...(isThere
      ? []
      : [required(path.child("default"), "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property")]),
    ...(property.nullable === true ? [forbidden(path.child("nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")] : []),
  ];
}

export function validateListSet(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  const items = itemsSchema(schema);
  if (items === undefined) return [];
  const at = path.child("items");
  const errors = items.nullable === true ? [forbidden(at.child("nullable"), "cannot be nullable when x-kubernetes-list-type is set")] : [];
  const name = items.type === "array" ? "x-kubernetes-list-type" : items.type === "object" ? "x-kubernetes-map-type" : undefined;
  if (name === undefined) return errors;
  const value = items[name];
  // A nested list is atomic when it says nothing, a map is not.
  const isAtomic = value === "atomic" || (name === "x-kubernetes-list-type" && value === undefined);
  return isAtomic ? errors : [...errors, invalid(at.child(name), value, "must be atomic as item of a list with x-kubernetes-list-type=set")];
}
