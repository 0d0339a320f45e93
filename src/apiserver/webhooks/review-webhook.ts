/** Reviews that a server elsewhere answers: TokenReview, SubjectAccessReview and ImageReview over HTTPS (documentation page "Webhook Token Authentication"). */
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { deadline, sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { failureText, retryAfterMs } from "./failed-answers.ts";

/** What carries a request to one webhook; `signal` aborts after `timeoutMs`. Rejects with an Error whose message a client may see. */
export type ReviewSender = (body: Uint8Array, options: { readonly timeoutMs: number; readonly signal: AbortSignal }) => Promise<ReviewAnswer>;

export interface ReviewAnswer {
  readonly status: number;
  readonly body: Uint8Array;
  /** The header of that name. */
  readonly retryAfter?: string;
  /** What was asked, for messages. */
  readonly url?: string;
}

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
  { kind, apiVersion, firstPauseMs = 500, ...webhook }: ReviewWebhookOptions,
  spec: object,
  initialStatus: object,
): Promise<S> {
  const body = Buffer.from(JSON.stringify({ kind, apiVersion, metadata: {}, spec, status: initialStatus }));
  let pauseMs = firstPauseMs;
  for (let attempt = 1; ; attempt++) {
    const answer = await answerOf(webhook, body);
    const isFailure = answer.status >= 500 || answer.status === 429;
    if (!isFailure || attempt === attempts) return readStatus<S>(answer, kind, apiVersion);
    await sleep(webhook.clock, pauseMs);
    pauseMs *= pauseFactor;
  }
}

/** One try: a server that is busy is asked again when it says, as long as the time lasts. */
async function answerOf({ send, clock, timeoutMs }: Pick<ReviewWebhookOptions, "send" | "clock" | "timeoutMs">, body: Uint8Array): Promise<ReviewAnswer> {
  const limit = deadline(clock, timeoutMs);
  try {
    for (;;) {
      const answer = await send(body, { timeoutMs, signal: limit.signal });
      const pauseMs = retryAfterMs(answer.status, answer.retryAfter);
      if (pauseMs === undefined) return answer;
      await sleep(clock, pauseMs, limit.signal).catch((cause: unknown) => {
        throw new WebhookError(`Post ${goQuote(answer.url ?? "")}: context deadline exceeded`, { cause });
      });
    }
  } finally {
    limit.cancel();
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

function readStatus<S>({ status, body }: ReviewAnswer, kind: string, apiVersion: string): S {
  const text = Buffer.from(body).toString();
  if (status < 200 || status > 299) throw new WebhookError(failureText(status, text.trim()));
  if (text === "") throw new WebhookError(`0-length response with status code: ${status} and content type: application/json`);
  const answer = readAnswer(body) as { kind?: string; apiVersion?: string; status?: S };
  const { kind: gotKind = kind, apiVersion: gotVersion = apiVersion } = answer;
  if (gotKind !== kind || gotVersion !== apiVersion)
    throw new WebhookError(`converting (${goType(gotKind, gotVersion)}) to (${goType(kind, apiVersion)}): unknown conversion`);
  return (answer.status ?? {}) as S;
}

const goType = (kind: string, apiVersion: string) => `${apiVersion.slice(apiVersion.indexOf("/") + 1)}.${kind}`;
