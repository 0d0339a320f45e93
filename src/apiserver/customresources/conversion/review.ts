/** ConversionReview, asked and answered (API group apiextensions.k8s.io, documentation page "Versions in CustomResourceDefinitions"). Pure. */
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import { goJson, isObject } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import type { Status } from "../../../apimachinery/status.ts";
import { goName, readReviewBody } from "../../webhooks/read-review.ts";
import { WebhookError } from "../../webhooks/review-webhook.ts";

export type ConversionReviewVersion = "v1" | "v1beta1";

export interface ConversionQuestion {
  readonly version: ConversionReviewVersion;
  readonly uid: string;
  /** `group/version` that the objects are wanted in. */
  readonly desiredApiVersion: string;
  readonly objects: readonly JsonObject[];
}

/** The first of the webhook's versions that is spoken here. */
export function conversionReviewVersion(versions: readonly string[] | undefined): ConversionReviewVersion | undefined {
  return versions?.find((version): version is ConversionReviewVersion => version === "v1" || version === "v1beta1");
}

export function conversionReviewBody({ version, uid, desiredApiVersion, objects }: ConversionQuestion): Uint8Array {
  return Buffer.from(
    goJson({
      kind: "ConversionReview",
      apiVersion: `apiextensions.k8s.io/${version}`,
      request: { uid, desiredAPIVersion: desiredApiVersion, objects },
      response: { uid: "", convertedObjects: null, result: { metadata: {} } },
    }),
  );
}

/** The converted objects, as many as there may be. Throws WebhookError. */
export function readConversion(body: Uint8Array, { version, uid }: Pick<ConversionQuestion, "version" | "uid">): JsonValue[] {
  const review = readReviewBody(body, { group: "apiextensions.k8s.io", version, kind: "ConversionReview" });
  const response = member(review, "response", isObject, `Go struct field ConversionReview.response of type ${version}.ConversionResponse`);
  if (response === undefined) throw new WebhookError("no response provided");
  const field = (name: string, type: string) => `Go struct field ConversionResponse.response.${name} of type ${type}`;
  const answered = member(response, "uid", isText, field("uid", "types.UID")) ?? "";
  const objects = member(response, "convertedObjects", Array.isArray, field("convertedObjects", "[]runtime.RawExtension")) ?? [];
  const result: Partial<Status> = member(response, "result", isObject, field("result", "v1.Status")) ?? {};
  if (version === "v1") checkType(review);
  // The older version never looked at the uid.
  if (version === "v1" && answered !== uid) throw new WebhookError(`expected response.uid=${goQuote(uid)}, got ${goQuote(answered)}`);
  const { status = "", message = "" } = result;
  if (status !== "Success") throw new WebhookError(message === "" ? `response.result.status was '${status}', not 'Success'` : message);
  return objects;
}

function checkType({ kind = "", apiVersion = "" }: JsonObject): void {
  if (kind === "ConversionReview" && apiVersion !== "") return;
  throw new WebhookError(`expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${String(apiVersion)}, Kind=${String(kind)}`);
}

const isText = (value: JsonValue): value is string => typeof value === "string";

/** A member of this type; undefined when it is absent or null. */
function member<T extends JsonValue>(object: JsonObject, name: string, isRight: (value: JsonValue) => value is T, goField: string): T | undefined {
  const value = object[name];
  if (value === undefined || value === null) return undefined;
  if (!isRight(value)) throw new WebhookError(`json: cannot unmarshal ${goName(value)} into ${goField}`);
  return value;
}
