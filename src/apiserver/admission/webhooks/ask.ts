/** Asks one webhook about one request. */
import { newUid } from "../../../base/ids.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import { isQualifiedName } from "../../../apimachinery/names.ts";
import { StatusError, badRequestError, internalServerError } from "../../../apimachinery/status.ts";
import { WebhookError } from "../../webhooks/review-webhook.ts";
import { callWebhook } from "../../webhooks/webhook-client.ts";
import { annotate } from "../audit-annotations.ts";
import type { AskedDecisions } from "../matching/authorization.ts";
import { checkConditions } from "../matching/conditions.ts";
import type { RequestView } from "../matching/request-view.ts";
import { refuse } from "../refuse.ts";
import type { CompiledWebhook } from "./configurations.ts";
import { readAnswer, reviewBody, reviewVersion } from "./review.ts";
import type { ReviewAnswer } from "./review.ts";

/** Whether its match conditions hold. Throws a 403 when they cannot be told and the webhook must not be left out. */
export async function isWanted(webhook: CompiledWebhook, view: RequestView, decisions: AskedDecisions): Promise<boolean> {
  if (webhook.conditions.length === 0) return true;
  const outcome = await checkConditions(webhook.conditions, { view, decisions });
  if (typeof outcome === "string") return outcome === "matches";
  if (webhook.failsOpen) return false;
  throw refuse(view.request, outcome.fault);
}

/** The answer of a webhook that allows. Throws what it refuses with, or a WebhookError when it gave no answer that can be used. */
export async function ask(webhook: CompiledWebhook, view: RequestView, isMutating: boolean): Promise<ReviewAnswer> {
  const { source, timeoutMs } = webhook;
  const { context, isDryRun } = view.request;
  if (isDryRun && source.sideEffects !== "None" && source.sideEffects !== "NoneOnDryRun")
    throw badRequestError(`admission webhook ${goQuote(source.name)} does not support dry run`);
  const version = reviewVersion(source.admissionReviewVersions);
  if (version === undefined) throw new WebhookError("webhook does not accept known AdmissionReview versions (v1, v1beta1)");
  const uid = newUid(context.server.random);
  const body = await called(() =>
    callWebhook(context.server, source.clientConfig, { body: reviewBody(view, uid, version), timeoutMs, signal: context.signal }),
  );
  const answer = readAnswer(body, { uid, version, isMutating });
  for (const [key, value] of Object.entries(answer.auditAnnotations ?? {})) {
    const full = `${source.name}/${key}`;
    if (isQualifiedName(full).length === 0) annotate(context, full, value);
  }
  // What cannot stand in a header is left out.
  for (const warning of answer.warnings ?? []) if (warning !== "" && !/\p{Cc}/u.test(warning)) context.warnings.add(warning);
  if (answer.allowed !== true) throw rejection(source.name, answer);
  return answer;
}

async function called(call: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    throw new WebhookError(`failed to call webhook: ${error.message}`, { cause: error });
  }
}

/** What a failed webhook means for the request: nothing when it may be left out. */
export function failureOf(webhook: CompiledWebhook, error: unknown): unknown {
  if (!(error instanceof WebhookError)) return error;
  return webhook.failsOpen ? undefined : internalServerError(`failed calling webhook ${goQuote(webhook.source.name)}: ${error.message}`, error);
}

/** A refusal is at least a 400. */
function rejection(name: string, { status = {} }: ReviewAnswer): StatusError {
  const { message = "", reason = "", details, code = 0 } = status;
  const told = message === "" ? reason : message;
  return new StatusError({
    message: `admission webhook ${goQuote(name)} denied the request${told === "" ? " without explanation" : `: ${told}`}`,
    ...(reason !== "" && { reason }),
    ...(details !== undefined && { details }),
    code: code < 400 ? 400 : code,
  });
}
