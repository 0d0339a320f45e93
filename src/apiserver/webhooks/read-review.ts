/** The answer of a webhook to a review, read as far as all reviews are alike. */
import { decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { yamlToJson } from "../../apimachinery/yaml/yaml.ts";
import { WebhookError } from "./review-webhook.ts";

export interface ReviewType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const goTypeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** JSON or YAML, whatever the content type says; `{}` for null. Kind and apiVersion may be left out. Throws WebhookError for another type. */
export function readReviewBody(body: Uint8Array, { group, version, kind: wanted }: ReviewType): JsonObject {
  const value = parsed(body);
  if (value === null) return {};
  if (!isObject(value))
    throw new WebhookError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${goName(value)} into Go value of type ${goTypeMeta}`);
  const { kind = "", apiVersion = "" } = value as { kind?: string; apiVersion?: string };
  if (kind !== "" && kind !== wanted)
    throw new WebhookError(`no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`);
  if (apiVersion !== "" && apiVersion !== `${group}/${version}`)
    throw new WebhookError(`converting (${apiVersion.slice(apiVersion.indexOf("/") + 1)}.${wanted}) to (${version}.${wanted}): unknown conversion`);
  return value;
}

/** Longer answers have to be JSON: reading YAML takes long. */
const yamlBytesAtMost = 256 * 1024;

function parsed(body: Uint8Array): JsonValue {
  try {
    return body.length > yamlBytesAtMost ? decodeUntyped(body, { mediaType: "json" }).value : yamlToJson(body);
  } catch (error) {
    throw new WebhookError(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** What Go calls a JSON value's type. */
export function goName(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
