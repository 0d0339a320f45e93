/** Reviews that the API server posts (admission.k8s.io/v1 AdmissionReview, apiextensions.k8s.io/v1 ConversionReview), answered. Pure. */
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { ResourceDefinition, ServedVersion, VersionContent } from "../definition/define-resource.ts";
import { jsonDifference } from "./json-difference.ts";
import type { Operation, Webhook } from "./webhook.ts";

/** An HTTP answer: status code and JSON text. */
export interface ReviewAnswer {
  readonly status: number;
  readonly body: string;
}

/** Answers a POST to `path`. What is no review is a 400, a path of nobody a 404; a webhook that throws refuses with its message. */
export function answerReview(path: string, body: string, { webhooks, definitions }: ReviewParts): ReviewAnswer {
  const review = parsed(body);
  const request = review?.["request"];
  if (review === undefined || !isObject(request)) return { status: 400, body: "the body is no review\n" };
  const webhook = webhooks.find((candidate) => candidate.path === path);
  const response = webhook !== undefined ? admit(webhook, request) : path === conversionPath ? convert(request, definitions) : undefined;
  if (response === undefined) return { status: 404, body: "404 page not found\n" };
  return { status: 200, body: JSON.stringify({ apiVersion: review["apiVersion"], kind: review["kind"], response: { uid: request["uid"], ...response } }) };
}

export interface ReviewParts {
  readonly webhooks: readonly Webhook[];
  readonly definitions: readonly ResourceDefinition[];
}

export const conversionPath = "/convert";

function admit(webhook: Webhook, request: JsonObject): object {
  const { operation, object, oldObject, userInfo, dryRun } = request as unknown as {
    operation: Operation;
    object: KubeObject | null;
    oldObject: KubeObject | null;
    userInfo?: Partial<UserInfo>;
    dryRun?: boolean;
  };
  const subject = operation === "DELETE" ? oldObject : object;
  if (subject === null || subject === undefined) return refusal(["the review has no object"]);
  const user: UserInfo = { ...userInfo, username: userInfo?.username ?? "", groups: userInfo?.groups ?? [] };
  try {
    const answer = webhook.answer({
      operation,
      object: subject,
      old: operation === "UPDATE" ? (oldObject ?? undefined) : undefined,
      user,
      isDryRun: dryRun === true,
    });
    const warnings = answer.warnings.length > 0 ? { warnings: answer.warnings } : {};
    if (answer.refusals.length > 0) return { ...refusal(answer.refusals), ...warnings };
    const patch = answer.object === undefined ? [] : jsonDifference(subject, answer.object);
    return { allowed: true, ...warnings, ...(patch.length > 0 && { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }) };
  } catch (error) {
    return refusal([`the webhook failed: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

function refusal(refusals: readonly string[]): object {
  return { allowed: false, status: { message: refusals.join("; "), reason: "Invalid", code: 422 } };
}

function convert(request: JsonObject, definitions: readonly ResourceDefinition[]): object {
  const { desiredAPIVersion = "", objects = [] } = request as { desiredAPIVersion?: string; objects?: KubeObject[] };
  try {
    return { convertedObjects: objects.map((object) => convertObject(object, desiredAPIVersion, definitions)), result: { status: "Success" } };
  } catch (error) {
    return { convertedObjects: [], result: { status: "Failed", message: error instanceof Error ? error.message : String(error) } };
  }
}

/** The object in another version, by way of the stored one. Throws when a version is unknown, or a conversion does. */
export function convertObject(object: KubeObject, apiVersion: string, definitions: readonly ResourceDefinition[]): KubeObject {
  const definition = definitions.find(({ group, kind }) => kind === object.kind && apiVersion.startsWith(`${group}/`));
  if (definition === undefined) throw new Error(`${object.kind} is no kind of this operator`);
  const from = versionOf(definition, object.apiVersion ?? "");
  const to = versionOf(definition, apiVersion);
  const { spec, status, ...rest } = object as KubeObject & VersionContent;
  const given: VersionContent = { spec, ...(status !== undefined && { status }) };
  const stored = from === "stored" ? given : from.toStored(given);
  return { ...rest, apiVersion, ...(to === "stored" ? stored : to.fromStored(stored)) };
}

function versionOf(definition: ResourceDefinition, apiVersion: string): ServedVersion | "stored" {
  if (apiVersion === apiVersionOf(definition.group, definition.version)) return "stored";
  const found = definition.versions.find(({ name }) => apiVersionOf(definition.group, name) === apiVersion);
  if (found === undefined) throw new Error(`${definition.kind} has no version ${apiVersion}`);
  return found;
}

function parsed(body: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
