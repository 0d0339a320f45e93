/** Whatever `allOf`, `anyOf`, `oneOf` and `not` speak of must be declared outside of them. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { childSchemas, itemsSchema } from "./schema-children.ts";
import type { JSONSchemaProps } from "./types.ts";

/** Only those of the root are looked at. */
export function validateCompleteness(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  return validateOf(schema, schema, path, path);
}

/** `nested` stands at `nestedPath` and is about what `schema` declares at `path`. */
function validateOf(nested: JSONSchemaProps, schema: JSONSchemaProps, path: FieldPath, nestedPath: FieldPath): FieldError[] {
  return childSchemas(nested)
    .filter(({ field }) => ["allOf", "anyOf", "oneOf", "not"].includes(field))
    .flatMap((child) => validateNested(child.schema, schema, path, child.path(nestedPath)));
}

function validateNested(nested: JSONSchemaProps, schema: JSONSchemaProps | undefined, path: FieldPath, nestedPath: FieldPath): FieldError[] {
  if (schema === undefined) return [required(path, `because it is defined in ${nestedPath}`)];
  const items = itemsSchema(nested);
  return [
    ...validateOf(nested, schema, path, nestedPath),
    ...(items === undefined ? [] : validateNested(items, itemsSchema(schema), path.child("items"), nestedPath.child("items"))),
    ...Object.entries(nested.properties ?? {}).flatMap(([name, property]) =>
      validateNested(property, schema.properties?.[name], path.child("properties").key(name), nestedPath.child("properties").key(name)),
    ),
  ];
}
