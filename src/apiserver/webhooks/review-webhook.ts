/** Reviews that a server elsewhere answers: TokenReview, SubjectAccessReview and ImageReview over HTTPS (documentation page "Webhook Token Authentication"). */
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";

/** What carries a request to one webhook. Rejects with an Error whose message a client may see. */
export type ReviewSender = (body: Uint8Array, options: { readonly timeoutMs: number }) => Promise<{ readonly status: number; readonly body: Uint8Array }>;

/** A webhook that gave no answer that can be used. */
export class WebhookError extends Error {
  override name = "WebhookError";
}

export interface ReviewWebhookOptions {
  readonly send: ReviewSender;
  readonly clock: Clock;
  readonly kind: "TokenReview" | "SubjectAccessReview" | "ImageReview";
  readonly apiVersion: string;
  readonly timeoutMs: number;
  /** Before the second try; 500 when absent. */
  readonly firstPauseMs?: number;
}

/** Tries in all when the other side says that it failed. */
const attempts = 5;
const pauseFactor = 1.5;

/** Sends a review with this `spec` and returns its `status`. Throws WebhookError. */
export async function sendReview<S extends object>(
  { send, clock, kind, apiVersion, timeoutMs, firstPauseMs = 500 }: ReviewWebhookOptions,
  spec: object,
  initialStatus: object,
): Promise<S> {
  const body = Buffer.from(JSON.stringify({ kind, apiVersion, metadata: {}, spec, status: initialStatus }));
  let pauseMs = firstPauseMs;
  for (let attempt = 1; ; attempt++) {
    const answer = await send(body, { timeoutMs });
    const isFailure = answer.status >= 500 || answer.status === 429;
    if (!isFailure || attempt === attempts) return readStatus<S>(answer, kind, apiVersion);
    await sleep(clock, pauseMs);
    pauseMs *= pauseFactor;
  }
}

/** JSON; what is none is a text, as it would be in YAML. */
function readAnswer(body: Uint8Array): object {
  let value: unknown = "";
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch {
    // Told as any other text.
  }
  if (typeof value === "object" && value !== null) return value;
  throw new WebhookError(
    'couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  );
}

function readStatus<S>({ status, body }: { readonly status: number; readonly body: Uint8Array }, kind: string, apiVersion: string): S {
  const text = Buffer.from(body).toString();
  if (status < 200 || status > 299) throw new WebhookError(failureText(status, text));
  if (text === "") throw new WebhookError(`0-length response with status code: ${status} and content type: application/json`);
  const answer = readAnswer(body) as { kind?: string; apiVersion?: string; status?: S };
  const { kind: gotKind = kind, apiVersion: gotVersion = apiVersion } = answer;
  if (gotKind !== kind || gotVersion !== apiVersion)
    throw new WebhookError(`converting (${goType(gotKind, gotVersion)}) to (${goType(kind, apiVersion)}): unknown conversion`);
  return (answer.status ?? {}) as S;
}

const goType = (kind: string, apiVersion: string) => `${apiVersion.slice(apiVersion.indexOf("/") + 1)}.${kind}`;

/** A Status says it itself; the rest is told by its code. */
function failureText(status: number, text: string): string {
  const message = statusMessage(text);
  if (message !== undefined) return message;
  switch (status) {
    case 401:
      return "Unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "the server could not find the requested resource";
    default:
      return status >= 500
        ? `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
        : `the server responded with the status code ${status} but did not return more information`;
  }
}

function statusMessage(text: string): string | undefined {
  try {
    const read = JSON.parse(text) as { kind?: string; message?: string };
    return read.kind === "Status" ? read.message : undefined;
  } catch {
    // Any text may stand in the body of a failure.
    return undefined;
  }
}
