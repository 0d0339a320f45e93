/** Schemas of custom resources: what their definitions say, with the members that every object has. */
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { Descriptions } from "./descriptions.ts";
import { referencePrefix, referenceTo, withMembers } from "./type-definitions.ts";
import type { Dialect } from "./type-definitions.ts";

/** Definitions of a custom kind and its list, by their names. */
export function customDefinitions(definition: ResourceDefinition, descriptions: Descriptions, dialect: Dialect): Record<string, JsonObject> {
  const { group, version, kind, listKind, resource } = definition;
  const name = customTypeName({ group, version, kind });
  const listName = customTypeName({ group, version, kind: listKind });
  const shown = objectSchema(definition.openApiSchema, descriptions, dialect);
  return {
    [name]: { ...shown, ...gvkExtension(group, version, kind) },
    [listName]: {
      description: `${listKind} is a list of ${kind}`,
      type: "object",
      required: ["items"],
      properties: {
        ...typeMembers(descriptions),
        items: {
          description: `List of ${resource}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md`,
          type: "array",
          items: { $ref: `${referencePrefix[dialect]}${name}` },
        },
        metadata: withMembers(
          { $ref: referenceTo(`${meta}ListMeta`, dialect) },
          { description: "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds" },
          dialect,
        ),
      },
      ...gvkExtension(group, version, listKind),
    },
  };
}

/** `com.example.v1.Widget`: the group's labels from the last to the first. */
export function customTypeName({ group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string }): string {
  return [...group.split(".").reverse(), version, kind].join(".");
}

const meta = "apimachinery.pkg.apis.meta.v1.";
const metadataDescription =
  "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const embeddedDescriptions = {
  apiVersion:
    "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
  kind: "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
};

function objectSchema(schema: JsonObject | undefined, descriptions: Descriptions, dialect: Dialect): JsonObject {
  if (schema === undefined) return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const shown = convert(schema, dialect);
  return { ...shown, properties: { ...(shown["properties"] as JsonObject | undefined), ...typeMembers(descriptions), metadata: metadataSchema(dialect) } };
}

function typeMembers(descriptions: Descriptions): JsonObject {
  const owner = `${meta}Status`;
  return { apiVersion: described(descriptions.field(owner, "apiVersion")), kind: described(descriptions.field(owner, "kind")) };
}

function described(description: string): JsonObject {
  return { ...(description !== "" && { description }), type: "string" };
}

function metadataSchema(dialect: Dialect): JsonObject {
  return withMembers({ $ref: referenceTo(`${meta}ObjectMeta`, dialect) }, { description: metadataDescription }, dialect);
}

/** A structural schema as a document shows it. v2 cannot say everything: what it cannot is left open. */
function convert(schema: JsonObject, dialect: Dialect): JsonObject {
  const shown: JsonObject = {};
  const isOpen = dialect === "v2" && (schema["nullable"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true);
  for (const [key, value] of Object.entries(schema)) {
    if (dialect === "v2" && (unknownToV2.has(key) || (isOpen && openedInV2.has(key)))) continue;
    if (dialect === "v2" && schema["nullable"] === true && key === "type") continue;
    shown[key] = convertMember(key, value, dialect);
  }
  if (schema["x-kubernetes-int-or-string"] === true && dialect === "v3") shown["anyOf"] = [{ type: "integer" }, { type: "string" }];
  if (schema["x-kubernetes-embedded-resource"] === true && !isOpen) embed(shown, dialect);
  return shown;
}

const unknownToV2 = new Set(["nullable", "oneOf", "anyOf", "not", "allOf", "x-kubernetes-validations"]);
const openedInV2 = new Set(["items", "properties", "additionalProperties", "required"]);

function convertMember(key: string, value: JsonValue, dialect: Dialect): JsonValue {
  switch (key) {
    case "properties":
      return Object.fromEntries(Object.entries(value as JsonObject).map(([name, schema]) => [name, convert(schema as JsonObject, dialect)]));
    case "items":
    case "additionalProperties":
    case "not":
      return typeof value === "object" && value !== null ? convert(value as JsonObject, dialect) : value;
    default:
      return value;
  }
}

function embed(shown: JsonObject, dialect: Dialect): void {
  const required = (shown["required"] as string[] | undefined) ?? [];
  shown["required"] = [...required, ...["kind", "apiVersion"].filter((name) => !required.includes(name))];
  shown["properties"] = {
    ...(shown["properties"] as JsonObject | undefined),
    apiVersion: described(embeddedDescriptions.apiVersion),
    kind: described(embeddedDescriptions.kind),
    metadata: metadataSchema(dialect),
  };
}

function gvkExtension(group: string, version: string, kind: string): JsonObject {
  return { "x-kubernetes-group-version-kind": [{ group, kind, version }] };
}
