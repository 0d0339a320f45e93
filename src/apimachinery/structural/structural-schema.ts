/**
 * Structural schemas: the schemas of CustomResourceDefinitions in the form that pruning, defaulting, validation and server-side apply read
 * (documentation page "Extend the Kubernetes API with CustomResourceDefinitions: Specifying a structural schema"). Made once per version of
 * a definition; whoever parses has checked that the schema is structural.
 */
import { GoRegExp } from "../go/go-regexp.ts";
import { isObject } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { ListType } from "../schema.ts";

export interface StructuralSchema extends ValueRules {
  /** `object`, `array`, `string`, `integer`, `number`, `boolean`, or empty when the schema does not say. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly isIntOrString: boolean;
  readonly isEmbeddedResource: boolean;
  readonly preservesUnknownFields: boolean;
  /** Undefined: there is none. */
  readonly defaultValue: JsonValue | undefined;
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  /** Schema of the other members; true allows any, false none, undefined says nothing. */
  readonly additionalProperties: StructuralSchema | boolean | undefined;
  readonly items: StructuralSchema | undefined;
  readonly listType: ListType;
  readonly listMapKeys: readonly string[];
  readonly hasAtomicMap: boolean;
  /** x-kubernetes-validations, as written. */
  readonly rules: readonly JsonObject[];
}

/** The keywords that say which values are valid. */
export interface ValueRules {
  readonly format: string;
  readonly maximum: Bound | undefined;
  readonly minimum: Bound | undefined;
  readonly multipleOf: number | undefined;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: GoRegExp | undefined;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly hasUniqueItems: boolean;
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly required: readonly string[];
  readonly values: readonly JsonValue[] | undefined;
  readonly allOf: readonly StructuralSchema[];
  readonly anyOf: readonly StructuralSchema[];
  readonly oneOf: readonly StructuralSchema[];
  readonly not: StructuralSchema | undefined;
}

export interface Bound {
  readonly value: number;
  readonly isExclusive: boolean;
}

/** The schema in `source`, a v1 JSONSchemaProps. */
export function parseStructuralSchema(source: JsonObject): StructuralSchema {
  const properties = isObject(source["properties"]) ? source["properties"] : {};
  return {
    ...parseRules(source),
    type: text(source["type"]) ?? "",
    isNullable: source["nullable"] === true,
    isIntOrString: source["x-kubernetes-int-or-string"] === true,
    isEmbeddedResource: source["x-kubernetes-embedded-resource"] === true,
    preservesUnknownFields: source["x-kubernetes-preserve-unknown-fields"] === true,
    defaultValue: source["default"],
    properties: new Map(Object.entries(properties).map(([name, property]) => [name, parseStructuralSchema(property as JsonObject)])),
    additionalProperties: parseAdditional(source["additionalProperties"]),
    items: isObject(source["items"]) ? parseStructuralSchema(source["items"]) : undefined,
    listType: (text(source["x-kubernetes-list-type"]) as ListType | undefined) ?? "atomic",
    listMapKeys: (source["x-kubernetes-list-map-keys"] as string[] | undefined) ?? [],
    hasAtomicMap: source["x-kubernetes-map-type"] === "atomic",
    rules: (source["x-kubernetes-validations"] as JsonObject[] | undefined) ?? [],
  };
}

function parseAdditional(source: JsonValue | undefined): StructuralSchema | boolean | undefined {
  if (typeof source === "boolean") return source;
  return isObject(source) ? parseStructuralSchema(source) : undefined;
}

function parseRules(source: JsonObject): ValueRules {
  const branches = (name: string) => ((source[name] as JsonObject[] | undefined) ?? []).map(parseStructuralSchema);
  return {
    format: text(source["format"]) ?? "",
    maximum: bound(source["maximum"], source["exclusiveMaximum"]),
    minimum: bound(source["minimum"], source["exclusiveMinimum"]),
    multipleOf: numeric(source["multipleOf"]),
    maxLength: numeric(source["maxLength"]),
    minLength: numeric(source["minLength"]),
    pattern: pattern(source["pattern"]),
    maxItems: numeric(source["maxItems"]),
    minItems: numeric(source["minItems"]),
    hasUniqueItems: source["uniqueItems"] === true,
    maxProperties: numeric(source["maxProperties"]),
    minProperties: numeric(source["minProperties"]),
    required: (source["required"] as string[] | undefined) ?? [],
    values: source["enum"] as JsonValue[] | undefined,
    allOf: branches("allOf"),
    anyOf: branches("anyOf"),
    oneOf: branches("oneOf"),
    not: isObject(source["not"]) ? parseStructuralSchema(source["not"]) : undefined,
  };
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function pattern(value: JsonValue | undefined): GoRegExp | undefined {
  const expression = text(value);
  return expression === undefined ? undefined : new GoRegExp(expression);
}

/** Numbers are compared as float64. */
function numeric(value: JsonValue | undefined): number | undefined {
  return value === undefined || value === null ? undefined : Number(typeof value === "object" ? (value as { rawJSON?: string }).rawJSON : value);
}

function bound(value: JsonValue | undefined, isExclusive: JsonValue | undefined): Bound | undefined {
  const number = numeric(value);
  return number === undefined ? undefined : { value: number, isExclusive: isExclusive === true };
}

/** The schema of the member `name`; undefined when the schema has nothing about it. */
export function memberOf(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const property = schema.properties.get(name);
  if (property !== undefined) return property;
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}
