/** The patch of a mutating webhook's answer, applied to the request's object. */
import { DecodeError, decodeObject, decodeUntyped } from "../../../apimachinery/decode/decode-object.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import { parseApiVersion } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { applyJsonPatch } from "../../../apimachinery/patch/json-patch.ts";
import { PatchError } from "../../../apimachinery/patch/patch-error.ts";
import { internalServerError } from "../../../apimachinery/status.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { withReplicas } from "../../handlers/subresources/scale.ts";
import { WebhookError } from "../../webhooks/review-webhook.ts";
import { inVersion } from "../matching/request-view.ts";
import type { RequestView } from "../matching/request-view.ts";
import type { ReviewAnswer } from "./review.ts";

/** Whether there was a patch. Throws a WebhookError for one that cannot be read, a 500 for one that does not fit, whatever the failure policy. */
export async function patched(view: RequestView, { patch = "", patchType }: ReviewAnswer): Promise<boolean> {
  if (patch === "") return false;
  const operations = readPatch(patch);
  if (operations.length === 0) return false;
  if (patchType !== undefined && patchType !== "JSONPatch") throw new WebhookError(`unsupported patch type ${goQuote(patchType)}`);
  await replaceObject(view, applied(view.object!, operations));
  return true;
}

function readPatch(patch: string): JsonValue[] {
  let value: JsonValue;
  try {
    ({ value } = decodeUntyped(Buffer.from(patch, "base64"), { mediaType: "json" }));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw undecodable(error.message);
  }
  if (value === null) return [];
  if (!Array.isArray(value)) throw undecodable(`json: cannot unmarshal ${isObject(value) ? "object" : typeof value} into Go value of type jsonpatch.Patch`);
  return value;
}

const undecodable = (text: string) => new WebhookError(`received undecodable patch in webhook response: ${text}`);

function applied(object: JsonObject, operations: JsonValue): JsonObject {
  try {
    return applyJsonPatch(object, operations) as JsonObject;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw internalServerError(error.message, error);
  }
}

/** Puts JSON of the view's version in the place of the request's object, which stays the same JavaScript object; `isStrict`: unknown fields are refused. Throws a 500 for JSON of another shape. */
export async function replaceObject(view: RequestView, json: JsonObject, isStrict = false): Promise<void> {
  const { request, definition } = view;
  const target = request.object!;
  const next = decoded(view, json, isStrict);
  const replacement =
    request.subresource === "scale" ? withReplicas(target, request.definition, replicasOf(next)) : await inVersion(next, definition, request.definition);
  for (const member of Object.keys(target)) delete target[member];
  Object.assign(target, replacement);
  target.metadata ??= {};
  view.forget();
  await view.prepare();
}

function decoded({ definition, kind, request }: RequestView, json: JsonObject, isStrict: boolean): KubeObject {
  try {
    if (definition.codec !== undefined && kind.kind === definition.kind) return definition.codec.decode(json).object;
    const { apiVersion, kind: given } = json;
    const version = typeof apiVersion === "string" ? parseApiVersion(apiVersion) : undefined;
    const schema =
      (version !== undefined && typeof given === "string" ? typeRegistry.kind(version.group, version.version, given) : undefined) ??
      typeRegistry.kind(kind.group, kind.version, kind.kind) ??
      definition.schema;
    const read = decodeObject(Buffer.from(JSON.stringify(json)), schema, { mediaType: "json" });
    if (isStrict && read.faults.length > 0) throw internalServerError(`strict decoding error: ${read.faults.join(", ")}`);
    const object = read.object as unknown as KubeObject;
    if (kind.kind === definition.kind) {
      object.metadata ??= {};
      definition.strategy?.defaults?.(object, request.context.server.clock.nowMs());
    }
    return object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw internalServerError(error.message, error);
  }
}

function replicasOf(scale: KubeObject): number {
  return (scale["spec"] as { replicas?: number } | undefined)?.replicas ?? 0;
}
