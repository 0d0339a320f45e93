/** Rules of what a version has beside its name: schema, subresources, columns, selectable fields. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalid, required, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import type { RuleContext } from "../strategy.ts";
import { fieldTypeAt } from "./field-type.ts";
import type { VersionSettings } from "./internal-definition.ts";
import { validateValidation } from "./validation-rules.ts";
import type { CustomResourceColumnDefinition, CustomResourceSubresourceScale, JSONSchemaProps, SelectableField } from "./types.ts";

/** `schemaName`: how the path calls the schema, which differs above versions and in them. */
export function validateSettings(settings: VersionSettings, schemaName: "schema" | "validation", context: RuleContext, path: FieldPath): FieldError[] {
  const { schema, subresources, additionalPrinterColumns = [], selectableFields = [] } = settings;
  return [
    ...(schema === undefined ? [] : validateValidation(schema, subresources?.status !== undefined, context, path.child(schemaName))),
    ...(subresources?.scale === undefined ? [] : validateScale(subresources.scale, path.child("subresources", "scale"))),
    ...additionalPrinterColumns.flatMap((column, index) => validateColumn(column, path.child("additionalPrinterColumns").index(index))),
    ...validateSelectableFields(selectableFields, schema?.openAPIV3Schema, path.child("selectableFields")),
  ];
}

function validateScale(
  { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = "" }: CustomResourceSubresourceScale,
  path: FieldPath,
): FieldError[] {
  return [
    ...validateScalePath(specReplicasPath, [".spec."], "should be a json path under .spec", path.child("specReplicasPath")),
    ...validateScalePath(statusReplicasPath, [".status."], "should be a json path under .status", path.child("statusReplicasPath")),
    ...(labelSelectorPath === ""
      ? []
      : validateScalePath(labelSelectorPath, [".spec.", ".status."], "should be a json path under either .spec or .status", path.child("labelSelectorPath"))),
  ];
}

function validateScalePath(jsonPath: string, prefixes: readonly string[], text: string, path: FieldPath): FieldError[] {
  if (jsonPath === "") return [required(path)];
  const errors = validateSimplePath(jsonPath, path);
  return errors.length > 0 || prefixes.some((prefix) => jsonPath.startsWith(prefix)) ? errors : [invalid(path, jsonPath, text)];
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function validateColumn({ name, type = "", format = "", jsonPath = "" }: CustomResourceColumnDefinition, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const types = `must be one of ${columnTypes.join(",")}`;
  if (!name) errors.push(required(path.child("name")));
  if (type === "") errors.push(required(path.child("type"), types));
  else if (!columnTypes.includes(type)) errors.push(invalid(path.child("type"), type, types));
  if (format !== "" && !columnFormats.includes(format)) errors.push(invalid(path.child("format"), format, `must be one of ${columnFormats.join(",")}`));
  // The path keeps the name that the field had in an older version.
  if (jsonPath === "") errors.push(required(path.child("JSONPath")));
  else errors.push(...validateSimplePath(jsonPath, path.child("JSONPath")));
  return errors;
}

function validateSimplePath(jsonPath: string, path: FieldPath): FieldError[] {
  return jsonPath.startsWith(".") ? [] : [invalid(path, jsonPath, "must be a simple json path starting with .")];
}

const maxSelectableFields = 8;
const selectableTypes = ["boolean", "integer", "string"];

function validateSelectableFields(fields: readonly SelectableField[], schema: JSONSchemaProps | undefined, path: FieldPath): FieldError[] {
  if (fields.length > maxSelectableFields) return [tooMany(path, fields.length, maxSelectableFields)];
  const seen = new Set<string>();
  return fields.flatMap(({ jsonPath = "" }, index) => {
    const at = path.index(index).child("jsonPath");
    if (jsonPath === "") return [required(at)];
    if (seen.has(jsonPath)) return [duplicate(at, jsonPath)];
    seen.add(jsonPath);
    const found = fieldTypeAt(schema ?? {}, jsonPath);
    if ("fault" in found) return [invalid(at, jsonPath, `is an invalid path: ${found.fault}`)];
    return selectableTypes.includes(found.type)
      ? []
      : [invalid(at, jsonPath, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.")];
  });
}
