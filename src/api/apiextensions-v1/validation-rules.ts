/** Rules of a version's schema as a whole: what any schema forbids, then the structural rules, then defaults. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { internalForm } from "../meta/internal-form.ts";
import type { RuleContext } from "../strategy.ts";
import { childSchemas } from "./schema-children.ts";
import { unsupportedFields, validateSchema } from "./schema-rules.ts";
import { validateStructural } from "./structural.ts";
import type { CustomResourceValidation, JSONSchemaProps } from "./types.ts";

/** With a status subresource the status is checked by its own part of the schema, so the root may not say more than these. */
const rootFieldsWithStatus = [
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "items",
  "properties",
  "externalDocs",
  "example",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
];

export function validateValidation(
  { openAPIV3Schema: schema }: CustomResourceValidation,
  hasStatus: boolean,
  context: RuleContext,
  validationPath: FieldPath,
): FieldError[] {
  if (schema === undefined) return [];
  const path = validationPath.child("openAPIV3Schema");
  const errors = [
    ...(hasStatus ? validateRoot(schema, path) : []),
    ...(schema.nullable === true ? [forbidden(path.child("nullable"), "nullable cannot be true at the root")] : []),
    ...validateSchema(schema, path),
    ...(context.checkSchemaRules?.(schema as Record<string, unknown>, path) ?? []),
  ];
  const obstacle = obstacleOf(schema);
  if (obstacle !== undefined) return errors.length > 0 ? errors : [invalid(path, "", `OpenAPIV3Schema '${obstacle}' is not supported`)];
  const structural = validateStructural(schema, path);
  if (structural.length > 0) return [...errors, ...structural];
  return [...errors, ...(context.checkSchemaDefaults?.(schema as Record<string, unknown>, path) ?? [])];
}

function validateRoot(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  if (schema.type && schema.type !== "object")
    return [invalid(path.child("type"), schema.type, 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled')];
  const isOther = Object.entries(schema).some(
    ([name, value]) => value !== undefined && value !== false && value !== "" && !rootFieldsWithStatus.includes(name),
  );
  if (!isOther) return [];
  const names = rootFieldsWithStatus.map((name) => (name.startsWith("x-kubernetes-") ? `X${name.slice(13).split("-").map(capital).join("")}` : capital(name)));
  return [
    invalid(
      path,
      internalForm("apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps", schema),
      `only [${names.join(" ")}] fields are allowed at the root of the schema if the status subresource is enabled`,
    ),
  ];
}

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

/** A field that no structural schema can be made of: its fault is told already, but for that of `$schema`. */
function obstacleOf(root: JSONSchemaProps): string | undefined {
  const pending = [root];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    const { $schema = "", items, ...rest } = schema;
    if ($schema !== "") return "schema";
    if (Array.isArray(items)) return "items";
    const other = unsupportedFields(rest)[0];
    if (other !== undefined) return other;
    pending.push(...childSchemas(schema).map((child) => child.schema));
  }
  return undefined;
}
