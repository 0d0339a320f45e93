/** Rows of custom resources: a cell per `additionalPrinterColumns` of the definition's version, found by JSONPath. */
import type { DeepReadonly, JsonObject, JsonValue } from "../apimachinery/json.ts";
import { isRawNumber } from "../apimachinery/json.ts";
import { JsonPathSyntaxError, parseJsonPath } from "../apimachinery/json-path.ts";
import type { Json, JsonPath } from "../apimachinery/json-path.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { CustomResourceColumnDefinition } from "./apiextensions-v1/types.ts";
import { nameOf, since } from "./cells.ts";
import type { RowContext, TablePrinter } from "./table.ts";

/**
 * A printer whose rows are the name and one cell per column. Without columns, or when one of them has a path that cannot be parsed
 * (which validation lets pass), rows are name and age. Make it once per version of a definition: paths are parsed here.
 */
export function customColumns(columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined): TablePrinter {
  const compiled = effectiveColumns(columns).map((column) => ({ type: column.type, path: parseJsonPath(column.jsonPath) }));
  return { cells: (object, context) => [nameOf(object), ...compiled.map((column) => customCell(column, object as Json, context))] };
}

/** The cells of one object, the name first. */
export function customCells(
  columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined,
  object: DeepReadonly<KubeObject>,
  context: RowContext,
): readonly JsonValue[] {
  return customColumns(columns).cells(object, context);
}

/** The columns that are shown: those given, or the age. */
export function effectiveColumns(columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined): DeepReadonly<CustomResourceColumnDefinition[]> {
  return columns === undefined || columns.length === 0 || !columns.every(({ jsonPath }) => isParsable(jsonPath)) ? [ageColumn] : columns;
}

const ageColumn: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  jsonPath: ".metadata.creationTimestamp",
};

function isParsable(path: string): boolean {
  try {
    parseJsonPath(path);
    return true;
  } catch (error) {
    if (error instanceof JsonPathSyntaxError) return false;
    throw error;
  }
}

function customCell(column: { type: string; path: JsonPath }, object: Json, context: RowContext): JsonValue {
  const value = column.path.find(object)?.[0];
  if (value === undefined) return null;
  if (column.type === "string") return printed(value);
  return value === null ? null : typedCell(column.type, value, context);
}

/** A value that does not fit the column's type gives null. */
function typedCell(type: string, value: Json, context: RowContext): JsonValue {
  switch (type) {
    case "integer":
      return integerCell(value);
    case "number":
      return typeof value === "number" || isRawNumber(value) ? (value as JsonValue) : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? dateCell(value, context) : null;
    default:
      return null;
  }
}

/** Fractions are cut off. */
function integerCell(value: Json): JsonValue {
  if (isRawNumber(value)) return /^-?\d+$/.test(value.rawJSON) ? (value as JsonValue) : Math.trunc(Number(value.rawJSON));
  return typeof value === "number" ? Math.trunc(value) : null;
}

function dateCell(text: string, context: RowContext): string {
  if (text === "" || text === "null") return "<unknown>";
  return rfc3339.test(text) && !Number.isNaN(Date.parse(text)) ? since(text, context) : "<invalid>";
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/** A value as Go's templates print it: structures as JSON with sorted keys, numbers in their shortest form. */
function printed(value: Json): string {
  if (value === null) return "<no value>";
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (typeof value === "number") return goNumberText(String(value));
  if (isRawNumber(value)) return /^-?\d+$/.test(value.rawJSON) ? value.rawJSON : goNumberText(String(Number(value.rawJSON)));
  return JSON.stringify(sorted(value)).replace(/[<>&\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Go writes exponents with two digits and turns to them below 1e-4. */
function goNumberText(text: string): string {
  const small = /^(-?)0\.0000(0*)([1-9]\d*)$/.exec(text);
  if (small !== null) {
    const digits = small[3]!;
    return `${small[1]}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e-${String(small[2]!.length + 5).padStart(2, "0")}`;
  }
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

function sorted(value: Json): Json {
  const copy = (source: Json): Json => {
    if (typeof source !== "object" || source === null || isRawNumber(source)) return source;
    if (Array.isArray(source)) return (source as readonly Json[]).map(copy);
    const members = source as DeepReadonly<JsonObject>;
    return Object.fromEntries(
      Object.keys(members)
        .sort()
        .map((key) => [key, copy(members[key]!)]),
    );
  };
  return copy(value);
}
