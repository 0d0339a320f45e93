/** AdmissionReview, asked and answered (API group admission.k8s.io). */
import { DecodeError, decodeObject } from "../../../apimachinery/decode/decode-object.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import type { Status } from "../../../apimachinery/status.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { readReviewBody } from "../../webhooks/read-review.ts";
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
  return Buffer.from(
    JSON.stringify({
      kind: "AdmissionReview",
      apiVersion: `admission.k8s.io/${version}`,
      request: { uid, ...rest, object: view.object, oldObject: view.oldObject, dryRun, options },
    }),
  );
}

/** Throws WebhookError. */
export function readAnswer(body: Uint8Array, asked: { readonly uid: string; readonly version: ReviewVersion; readonly isMutating: boolean }): ReviewAnswer {
  const review = readReview(body, asked.version);
  const { response } = review;
  if (response === undefined || response === null) throw invalidAnswer("webhook response was absent");
  if (asked.version === "v1beta1") return response;
  if (review.kind !== "AdmissionReview")
    throw invalidAnswer(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${review.apiVersion ?? ""}/, Kind=${review.kind ?? ""}`);
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

const reviewSchema = typeRegistry.struct("api.admission.v1.AdmissionReview")!;

function readReview(body: Uint8Array, version: ReviewVersion): Review {
  try {
    const value = readReviewBody(body, { group: "admission.k8s.io", version, kind: "AdmissionReview" });
    return decodeObject(Buffer.from(JSON.stringify(value)), reviewSchema, { mediaType: "json" }).object as Review;
  } catch (error) {
    if (!(error instanceof DecodeError) && !(error instanceof WebhookError)) throw error;
    throw new WebhookError(`failed to call webhook: ${error.message}`, { cause: error });
  }
}

const invalidAnswer = (text: string) => new WebhookError(`received invalid webhook response: ${text}`);
