/** Operations and definitions as an OpenAPI v2 document. Parameters that occur more than once are shared, under their name and a hash. */
import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { commonParameters } from "./common-parameters.ts";
import { referencedDefinitions } from "./document-v3.ts";
import type { DocumentParts } from "./document-v3.ts";
import { textType } from "./operations.ts";
import type { ApiOperation, PathItem } from "./operations.ts";
import type { Parameter } from "./parameters.ts";
import { referencePrefix } from "./type-definitions.ts";

/** Steps of making it. */
export function* documentV2({ info, paths, definition, types = [] }: DocumentParts): Generator<void, JsonObject> {
  const shared = new SharedParameters();
  const items: JsonObject = {};
  for (const path of paths) {
    items[path.path] = pathItem(path, shared);
    yield;
  }
  const parameters = shared.definitions();
  const definitions = yield* referencedDefinitions(
    [items, parameters, types.map((name) => ({ $ref: `${referencePrefix.v2}${name}` }))],
    referencePrefix.v2,
    definition,
  );
  return {
    swagger: "2.0",
    info,
    paths: items,
    definitions,
    parameters,
    securityDefinitions: { BearerToken: { description: "Bearer Token authentication", type: "apiKey", name: "authorization", in: "header" } },
    security: [{ BearerToken: [] }],
  };
}

class SharedParameters {
  readonly #byText = new Map<string, { readonly key: string; readonly value: JsonObject }>();

  /** A reference to the parameter; path parameters that name a kind stand where they are. */
  reference(value: JsonObject): JsonObject {
    const text = JSON.stringify(value);
    let known = this.#byText.get(text);
    if (known === undefined) {
      const hash = createHash("sha256").update(text).digest("base64url").slice(0, 8);
      this.#byText.set(text, (known = { key: `${value["name"] as string}-${hash}`, value }));
    }
    return { $ref: `#/parameters/${known.key}` };
  }

  definitions(): JsonObject {
    const entries = [...this.#byText.values()].map(({ key, value }): [string, JsonValue] => [key, value]);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function pathItem({ operations }: PathItem, shared: SharedParameters): JsonObject {
  const { common, own } = commonParameters(operations);
  return {
    ...Object.fromEntries(operations.map((operation, index) => [operation.method, operationObject(operation, own[index]!, shared)])),
    ...(common.length > 0 && { parameters: common.map((parameter) => parameterObject(parameter, shared)) }),
  };
}

function operationObject(operation: ApiOperation, parameters: readonly Parameter[], shared: SharedParameters): JsonObject {
  const { body, action, gvk } = operation;
  const bodies =
    body === undefined
      ? []
      : [shared.reference({ name: "body", in: "body", ...(body.isRequired && { required: true }), schema: { $ref: `${referencePrefix.v2}${body.type}` } })];
  const all = [...bodies, ...parameters.map((parameter) => parameterObject(parameter, shared))];
  return {
    description: operation.description,
    consumes: [...(body?.consumes ?? operation.consumes)],
    produces: [...operation.produces],
    schemes: ["https"],
    tags: [operation.tag],
    operationId: operation.operationId,
    ...(all.length > 0 && { parameters: all }),
    responses: Object.fromEntries(
      operation.responses.map(({ code, description, type }) => [code, { description, ...(type !== undefined && { schema: typeSchema(type) }) }]),
    ),
    ...(action !== undefined && { "x-kubernetes-action": action }),
    ...(gvk !== undefined && { "x-kubernetes-group-version-kind": { ...gvk } }),
  };
}

function typeSchema(type: string): JsonObject {
  return type === textType ? { type: "string" } : { $ref: `${referencePrefix.v2}${type}` };
}

function parameterObject({ name, in: place, type, description }: Parameter, shared: SharedParameters): JsonObject {
  const value: JsonObject = {
    uniqueItems: true,
    type,
    ...(description !== "" && { description }),
    name,
    in: place,
    ...(place === "path" && { required: true }),
  };
  return place === "path" && name === "name" ? value : shared.reference(value);
}
