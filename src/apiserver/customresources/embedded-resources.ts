/** Resources inside custom resources (schema extension x-kubernetes-embedded-resource): their apiVersion, kind and metadata. */
import { DecodeError } from "../../apimachinery/decode/decode-object.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { fieldErrorText, invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { isDns1035Label, pathSegmentName } from "../../apimachinery/names.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import { memberOf } from "../../apimachinery/structural/structural-schema.ts";
import type { StructuralSchema } from "../../apimachinery/structural/structural-schema.ts";
import { validateObjectMeta } from "../../api/meta/object-meta.ts";
import { decodeMetadata, printMetadata } from "./object-metadata.ts";

/** Whether there is anything to do for a schema. */
export function hasEmbeddedResources(schema: StructuralSchema): boolean {
  return schema.isEmbeddedResource || childSchemas(schema).some(hasEmbeddedResources);
}

function childSchemas(schema: StructuralSchema): StructuralSchema[] {
  const { properties, additionalProperties, items } = schema;
  return [...properties.values(), ...(typeof additionalProperties === "object" ? [additionalProperties] : []), ...(items === undefined ? [] : [items])];
}

/** Brings the metadata of every embedded resource into its canonical form, in place; returns unknown members. Throws a `DecodeError`. */
export function normalizeEmbedded(root: JsonObject, schema: StructuralSchema): string[] {
  const unknown: string[] = [];
  for (const { resource, path } of embeddedResources(root, schema)) {
    for (const name of ["apiVersion", "kind"]) {
      const value = resource[name];
      if (value !== undefined && typeof value !== "string")
        throw new DecodeError("value", fieldErrorText(invalid(path.child(name), value, "must be a string")));
    }
    const given = resource["metadata"];
    if (given === undefined || given === null) continue;
    try {
      const decoded = decodeMetadata(given);
      resource["metadata"] = printMetadata(decoded.metadata);
      unknown.push(...decoded.unknown.map((name) => `${path.toString()}.${name}`));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      throw new DecodeError("value", fieldErrorText(invalid(path.child("metadata"), given, error.message)), error);
    }
  }
  return unknown;
}

/** Faults of the types and metadata of all embedded resources. */
export function embeddedErrors(root: JsonObject, schema: StructuralSchema): FieldError[] {
  return embeddedResources(root, schema).flatMap(({ resource, path }) => [
    ...["apiVersion", "kind"].filter((name) => !Object.hasOwn(resource, name)).map((name) => required(path.child(name))),
    ...apiVersionErrors(resource["apiVersion"], path.child("apiVersion")),
    ...kindErrors(resource["kind"], path.child("kind")),
    ...metadataErrors(resource["metadata"], path.child("metadata")),
  ]);
}

function apiVersionErrors(value: JsonValue | undefined, path: FieldPath): FieldError[] {
  if (value === undefined) return [];
  if (typeof value !== "string") return [invalid(path, value, "must be a string")];
  if (value === "") return [invalid(path, value, "must not be empty")];
  return parseApiVersion(value) === undefined ? [invalid(path, value, `unexpected GroupVersion string: ${value}`)] : [];
}

function kindErrors(value: JsonValue | undefined, path: FieldPath): FieldError[] {
  if (value === undefined) return [];
  if (typeof value !== "string") return [invalid(path, value, "must be a string")];
  if (value === "") return [invalid(path, value, "must not be empty")];
  const faults = isDns1035Label(value.toLowerCase());
  return faults.length === 0 ? [] : [invalid(path, value, `may have mixed case, but should otherwise match: ${faults.join(",")}`)];
}

function metadataErrors(value: JsonValue | undefined, path: FieldPath): FieldError[] {
  if (value === undefined || value === null) return [];
  try {
    const { metadata } = decodeMetadata(structuredClone(value));
    const isNamespaced = (metadata.namespace ?? "") !== "";
    return validateObjectMeta(
      { ...metadata, name: metadata.name || "fakename" },
      { nameRule: pathSegmentName, isNamespaced, requiresQualifiedFinalizers: false },
      path,
    );
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return [invalid(path, value, error.message)];
  }
}

interface Embedded {
  readonly resource: JsonObject;
  readonly path: FieldPath;
}

/** Every embedded resource in `root`, outer ones first. */
function embeddedResources(root: JsonObject, schema: StructuralSchema): Embedded[] {
  const found: Embedded[] = [];
  const visit = (value: JsonValue, within: StructuralSchema, path: FieldPath, isRoot: boolean): void => {
    if (Array.isArray(value)) {
      if (within.items !== undefined) for (const [index, item] of value.entries()) visit(item, within.items, path.index(index), false);
      return;
    }
    if (!isObject(value)) return;
    const isResource = within.isEmbeddedResource && !isRoot;
    if (isResource) found.push({ resource: value, path });
    for (const [name, member] of Object.entries(value)) {
      if (isResource && (name === "apiVersion" || name === "kind" || name === "metadata")) continue;
      const property = within.properties.get(name);
      const inner = property ?? memberOf(within, name);
      if (inner !== undefined) visit(member, inner, property === undefined ? path.key(name) : path.child(name), false);
    }
  };
  visit(root, schema, FieldPath.root(), true);
  return found;
}
