/** Messages of package `openapi.v3` that our documents use. */
import type { JsonValue } from "../../../apimachinery/json.ts";
import type { MessageTypes } from "./encode-document.ts";

const orReference = (message: string): { choose: (value: JsonValue) => readonly [number, string] } => ({
  choose: (value) => (typeof value === "object" && value !== null && "$ref" in value ? [2, "Reference"] : [1, message]),
});

export const messagesV3: MessageTypes = {
  Document: { fields: { openapi: [1, "string"], info: [2, "Info"], paths: [4, "Paths"], components: [5, "Components"] }, extensions: 9 },
  Info: { fields: { title: [1, "string"], version: [6, "string"] }, extensions: 7 },
  Paths: { others: [1, "PathItem"], extensions: 2 },
  PathItem: {
    fields: {
      get: [4, "Operation"],
      put: [5, "Operation"],
      post: [6, "Operation"],
      delete: [7, "Operation"],
      options: [8, "Operation"],
      head: [9, "Operation"],
      patch: [10, "Operation"],
      parameters: [13, "[]ParameterOrReference"],
    },
    extensions: 14,
  },
  Operation: {
    fields: {
      tags: [1, "[]string"],
      description: [3, "string"],
      operationId: [5, "string"],
      parameters: [6, "[]ParameterOrReference"],
      requestBody: [7, "RequestBodyOrReference"],
      responses: [8, "Responses"],
    },
    extensions: 13,
  },
  ParameterOrReference: orReference("Parameter"),
  Parameter: {
    fields: { name: [1, "string"], in: [2, "string"], description: [3, "string"], required: [4, "bool"], schema: [10, "SchemaOrReference"] },
    extensions: 14,
  },
  RequestBodyOrReference: orReference("RequestBody"),
  RequestBody: { fields: { content: [2, "{}MediaType"], required: [3, "bool"] }, extensions: 4 },
  Responses: { others: [2, "ResponseOrReference"], extensions: 3 },
  ResponseOrReference: orReference("Response"),
  Response: { fields: { description: [1, "string"], content: [3, "{}MediaType"] }, extensions: 5 },
  MediaType: { fields: { schema: [1, "SchemaOrReference"] }, extensions: 5 },
  Components: { fields: { schemas: [1, "{}SchemaOrReference"], securitySchemes: [7, "{}SecuritySchemeOrReference"] }, extensions: 10 },
  SecuritySchemeOrReference: orReference("SecurityScheme"),
  SecurityScheme: { fields: { type: [1, "string"], description: [2, "string"], name: [3, "string"], in: [4, "string"] } },
  Reference: { fields: { $ref: [1, "string"], description: [3, "string"] } },
  SchemaOrReference: orReference("Schema"),
  Schema: {
    fields: {
      nullable: [1, "bool"],
      example: [7, "yaml"],
      title: [9, "string"],
      multipleOf: [10, "number"],
      maximum: [11, "number"],
      exclusiveMaximum: [12, "bool"],
      minimum: [13, "number"],
      exclusiveMinimum: [14, "bool"],
      maxLength: [15, "integer"],
      minLength: [16, "integer"],
      pattern: [17, "string"],
      maxItems: [18, "integer"],
      minItems: [19, "integer"],
      uniqueItems: [20, "bool"],
      maxProperties: [21, "integer"],
      minProperties: [22, "integer"],
      required: [23, "[]string"],
      enum: [24, "[]yaml"],
      type: [25, "string"],
      allOf: [26, "[]SchemaOrReference"],
      oneOf: [27, "[]SchemaOrReference"],
      anyOf: [28, "[]SchemaOrReference"],
      not: [29, "Schema"],
      items: [30, "<>SchemaOrReference"],
      properties: [31, "{}SchemaOrReference"],
      additionalProperties: [32, "AdditionalProperties"],
      default: [33, "Default"],
      description: [34, "string"],
      format: [35, "string"],
    },
    extensions: 36,
  },
  AdditionalProperties: { choose: (value) => (typeof value === "boolean" ? [2, "bool"] : [1, "SchemaOrReference"]) },
  /** Objects and lists have no form here. */
  Default: {
    choose: (value) =>
      typeof value === "number" ? [1, "number"] : typeof value === "boolean" ? [2, "bool"] : typeof value === "string" ? [3, "string"] : undefined,
  },
};
