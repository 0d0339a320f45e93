/** Answers as bytes: JSON, YAML, protobuf and CBOR forms of an object, and Status objects for failures. */
import { encodeCbor } from "../../apimachinery/cbor/write-cbor.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import { StatusError, internalServerError } from "../../apimachinery/status.ts";
import type { Status } from "../../apimachinery/status.ts";
import { jsonToYaml } from "../../apimachinery/yaml/yaml-writer.ts";
import { encodeProtobuf } from "../../apimachinery/protobuf/envelope.ts";
import { goJson } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import { typeRegistry } from "../../api/registry.ts";
import type { Negotiated } from "./negotiation.ts";

/** Answers with an object. `schema` is needed for protobuf; without one the answer falls back to JSON. */
export function objectResponse(status: number, object: JsonObject, form: Negotiated, schema: StructSchema | undefined): ApiResponse {
  return bytesResponse(status, contentTypeOf(form, schema), encodeAs(object, form, schema));
}

/** Answers with JSON bytes that are already made; only for forms that show them unchanged. */
export function jsonBytesResponse(status: number, bytes: Uint8Array): ApiResponse {
  return bytesResponse(status, "application/json", bytes);
}

export function contentTypeOf(form: Negotiated, schema: StructSchema | undefined): string {
  if (form.mediaType === "application/vnd.kubernetes.protobuf" && schema === undefined) return "application/json";
  return form.mediaType;
}

function encodeAs(object: JsonObject, form: Negotiated, schema: StructSchema | undefined): Uint8Array {
  switch (form.mediaType) {
    case "application/yaml":
      return Buffer.from(jsonToYaml(object));
    case "application/vnd.kubernetes.protobuf": {
      if (schema === undefined) return jsonText(object, form.isPretty);
      const { apiVersion, kind } = object as { apiVersion?: string; kind?: string };
      return encodeProtobuf(object, schema, { apiVersion: apiVersion ?? "", kind: kind ?? "" });
    }
    case "application/cbor":
      return encodeCbor(object, schema);
    case "application/json":
      return jsonText(object, form.isPretty);
  }
}

/** JSON as Go's encoder writes it: with a final newline, unless it is indented. */
export function jsonText(value: unknown, isPretty = false): Buffer {
  return Buffer.from(isPretty ? goJson(value, 2) : `${goJson(value)}\n`);
}

const statusSchema = typeRegistry.struct("apimachinery.pkg.apis.meta.v1.Status");
/** A Status that could not be given in the form asked for is indented. */
const jsonForm: Negotiated = { mediaType: "application/json", isPretty: true, transform: undefined };

/** Answers with a Status in the form asked for. */
export function statusResponse(status: Status, form: Negotiated = jsonForm, headers: ApiResponse["headers"] = {}): ApiResponse {
  const code = status.code ?? 200;
  const retryAfter = status.details?.retryAfterSeconds;
  const response = objectResponse(code, status as unknown as JsonObject, form, statusSchema);
  return { ...response, headers: { ...response.headers, ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }), ...headers } };
}

/** Any failure as a Status: StatusErrors as they are, everything else as a 500 that names it. */
export function toStatus(error: unknown): Status {
  if (error instanceof StatusError) return error.status;
  return internalServerError(error instanceof Error ? error.message : String(error), error).status;
}

export function plainText(status: number, text: string): ApiResponse {
  return bytesResponse(status, "text/plain; charset=utf-8", text, { "x-content-type-options": "nosniff" });
}
