/** AdmissionReview, asked and answered (API group admission.k8s.io). */
import { DecodeError, decodeObject } from "../../../apimachinery/decode/decode-object.ts";
import { goQuote } from "../../../apimachinery/go-quote.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { JsonValue } from "../../../apimachinery/json.ts";
import type { Status } from "../../../apimachinery/status.ts";
import { yamlToJson } from "../../../apimachinery/yaml.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { WebhookError } from "../../webhooks/review-webhook.ts";
import type { RequestView } from "../matching/request-view.ts";

export interface ReviewAnswer {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: Partial<Status>;
  /** Base64. */
  readonly patch?: string;
  readonly patchType?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

export type ReviewVersion = "v1" | "v1beta1";

/** The first of the webhook's versions that is spoken here. */
export function reviewVersion(versions: readonly string[] | undefined): ReviewVersion | undefined {
  return versions?.find((version): version is ReviewVersion => version === "v1" || version === "v1beta1");
}

export function reviewBody(view: RequestView, uid: string, version: ReviewVersion): Uint8Array {
  const { dryRun, options, ...rest } = view.description;
  return Buffer.from(JSON.stringify({ kind: "AdmissionReview", apiVersion: `admission.k8s.io/${version}`, request: { uid, ...rest, object: view.object, oldObject: view.oldObject, dryRun, options } }));
}

/** Throws WebhookError. */
export function readAnswer(body: Uint8Array, asked: { readonly uid: string; readonly version: ReviewVersion; readonly isMutating: boolean }): ReviewAnswer {
  const review = readReview(body, asked.version);
  const { response } = review;
  if (response === undefined || response === null) throw invalidAnswer("webhook response was absent");
  if (asked.version === "v1beta1") return response;
  if (review.kind !== "AdmissionReview") throw invalidAnswer(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${review.apiVersion ?? ""}/, Kind=${review.kind ?? ""}`);
  const { uid = "", patch = "", patchType } = response;
  if (uid !== asked.uid) throw invalidAnswer(`expected response.uid=${goQuote(asked.uid)}, got ${goQuote(uid)}`);
  if (!asked.isMutating) {
    if (patch !== "") throw invalidAnswer("validating webhook may not return response.patch");
    if (patchType !== undefined) throw invalidAnswer("validating webhook may not return response.patchType");
    return response;
  }
  if (patch !== "" && patchType === undefined) throw invalidAnswer("webhook returned response.patch but not response.patchType");
  if (patch === "" && patchType !== undefined) throw invalidAnswer("webhook returned response.patchType but not response.patch");
  return response;
}

interface Review {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly response?: ReviewAnswer | null;
}

const goTypeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const reviewSchema = typeRegistry.struct("api.admission.v1.AdmissionReview")!;

/** JSON or YAML, whatever the content type says. */
function readReview(body: Uint8Array, version: ReviewVersion): Review {
  const value = parsed(body);
  if (value === null) return {};
  if (!isObject(value)) throw failedCall(`couldn't get version/kind; json parse error: json: cannot unmarshal ${goName(value)} into Go value of type ${goTypeMeta}`);
  const { kind = "", apiVersion = "" } = value as Review;
  const expected = `admission.k8s.io/${version}`;
  if (kind !== "" && kind !== "AdmissionReview") throw failedCall(`no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`);
  if (apiVersion !== "" && apiVersion !== expected) throw failedCall(`converting (${apiVersion.slice(apiVersion.indexOf("/") + 1)}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`);
  try {
    return decodeObject(Buffer.from(JSON.stringify(value)), reviewSchema, { mediaType: "json" }).object as Review;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw failedCall(error.message);
  }
}

function parsed(body: Uint8Array): JsonValue {
  try {
    return yamlToJson(body);
  } catch (error) {
    throw failedCall(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function goName(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

const invalidAnswer = (text: string) => new WebhookError(`received invalid webhook response: ${text}`);
const failedCall = (text: string) => new WebhookError(`failed to call webhook: ${text}`);
