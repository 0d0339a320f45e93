/** Warnings about what a schema says in vain. */
import { childSchemas, itemsSchema } from "./schema-children.ts";
import type { CustomResourceDefinition, JSONSchemaProps } from "./types.ts";

/** Formats of texts that custom resources are checked against. */
const knownFormats = new Set([
  "bsonobjectid",
  "uri",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "cidr",
  "mac",
  "uuid",
  "uuid3",
  "uuid4",
  "uuid5",
  "isbn",
  "isbn10",
  "isbn13",
  "creditcard",
  "ssn",
  "hexcolor",
  "rgbcolor",
  "byte",
  "password",
  "date",
  "duration",
  "datetime",
  "date-time",
  "k8s-short-name",
  "k8s-long-name",
]);

/** A warning for each thing that the old definition does not have. */
export function schemaWarnings(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): string[] {
  const before = old === undefined ? new Set<string>() : warningsOf(old);
  return [...warningsOf(definition)].filter((warning) => !before.has(warning));
}

function warningsOf({ spec }: CustomResourceDefinition): Set<string> {
  const found = new Set<string>();
  const pending: JSONSchemaProps[] = (spec.versions ?? [])
    .flatMap(({ schema }) => (schema?.openAPIV3Schema === undefined ? [] : [schema.openAPIV3Schema]))
    .reverse();
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    const { type, format } = schema;
    const itemType = itemsSchema(schema)?.type ?? "";
    if (type === "string" && format && !knownFormats.has(format)) found.add(`unrecognized format ${JSON.stringify(format)}`);
    if (schema["x-kubernetes-list-type"] === "set" && ["array", "object"].includes(itemType)) {
      found.add(`x-kubernetes-list-type: set for items of type ${JSON.stringify(itemType)} is not supported by server-side apply or CEL validation rules`);
    }
    pending.push(
      ...childSchemas(schema)
        .map((child) => child.schema)
        .reverse(),
    );
  }
  return found;
}
