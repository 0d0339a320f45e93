/** Operations and definitions as an OpenAPI v3 document. */
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { commonParameters } from "./common-parameters.ts";
import { textType } from "./operations.ts";
import type { ApiOperation, PathItem } from "./operations.ts";
import type { Parameter } from "./parameters.ts";
import { referencePrefix } from "./type-definitions.ts";

export interface DocumentParts {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: readonly PathItem[];
  /** The definition of a type by its full name. */
  readonly definition: (name: string) => JsonObject;
  /** Types that are there even if nothing refers to them. */
  readonly types?: readonly string[];
  readonly hasSecurity: boolean;
}

/** Steps of making it. */
export function* documentV3({ info, paths, definition, types = [], hasSecurity }: DocumentParts): Generator<void, JsonObject> {
  const items: JsonObject = {};
  for (const path of paths) {
    items[path.path] = pathItem(path);
    yield;
  }
  const schemas = yield* referencedDefinitions([items, types.map((name) => ({ $ref: `${referencePrefix.v3}${name}` }))], referencePrefix.v3, definition);
  const hasSchemas = Object.keys(schemas).length > 0;
  return {
    openapi: "3.0.0",
    info,
    paths: items,
    components: {
      ...(hasSchemas && { schemas }),
      ...(hasSecurity && {
        securitySchemes: { BearerToken: { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" } },
      }),
    },
  };
}

/** Steps of gathering the definitions of all types that a document refers to, directly or through others, by name. */
export function* referencedDefinitions(roots: JsonValue, prefix: string, definition: (name: string) => JsonObject): Generator<void, JsonObject> {
  const found = new Map<string, JsonObject>();
  const open: JsonValue[] = [roots];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const reference = Array.isArray(value) ? undefined : (value as JsonObject)["$ref"];
    if (typeof reference === "string" && reference.startsWith(prefix) && !found.has(reference.slice(prefix.length))) {
      const name = reference.slice(prefix.length);
      const made = definition(name);
      found.set(name, made);
      open.push(made);
      yield;
    }
    for (const member of Object.values(value)) open.push(member as JsonValue);
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pathItem({ operations }: PathItem): JsonObject {
  const { common, own } = commonParameters(operations);
  return {
    ...Object.fromEntries(operations.map((operation, index) => [operation.method, operationObject(operation, own[index]!)])),
    ...(common.length > 0 && { parameters: common.map(parameterObject) }),
  };
}

function operationObject(operation: ApiOperation, parameters: readonly Parameter[]): JsonObject {
  const { body, produces, action, gvk } = operation;
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.operationId,
    ...(parameters.length > 0 && { parameters: parameters.map(parameterObject) }),
    ...(body !== undefined && { requestBody: { content: content(body.consumes, body.type), ...(body.isRequired && { required: true }) } }),
    responses: Object.fromEntries(
      operation.responses.map(({ code, description, type }) => [code, { description, ...(type !== undefined && { content: content(produces, type) }) }]),
    ),
    ...(action !== undefined && { "x-kubernetes-action": action }),
    ...(gvk !== undefined && { "x-kubernetes-group-version-kind": { ...gvk } }),
  };
}

function content(mediaTypes: readonly string[], type: string): JsonObject {
  const schema: JsonObject = type === textType ? { type: "string" } : { $ref: `${referencePrefix.v3}${type}` };
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}

function parameterObject({ name, in: place, type, description }: Parameter): JsonObject {
  return { name, in: place, ...(description !== "" && { description }), ...(place === "path" && { required: true }), schema: { type, uniqueItems: true } };
}
