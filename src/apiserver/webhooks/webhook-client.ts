/** A webhook's `clientConfig` (API reference "WebhookClientConfig") put to use: where it is, asking it, and what its answers mean. */
import { posix } from "node:path";
import { deadline, sleep } from "../../base/clock.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import type { ServerState } from "../server-state.ts";
import type { WebhookAnswer, WebhookTarget } from "./webhook-connector.ts";
import { failureText, retryAfterMs } from "./failed-answers.ts";
import { serviceAddresses } from "./service-address.ts";
import { WebhookError } from "./review-webhook.ts";

export interface ClientConfig {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

/** Posts a review and returns the body of the answer. Throws WebhookError. A server that is busy is asked again until the time is over. */
export async function callWebhook(
  server: ServerState,
  config: ClientConfig,
  { body, timeoutMs, signal }: { readonly body: Uint8Array; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const url = `${urlOf(config)}?timeout=${timeoutMs / 1000}s`;
  const limit = deadline(server.clock, timeoutMs, signal, server.tasks.signal);
  try {
    const target = targetOf(server, config, url);
    for (;;) {
      const answer = await server.webhooks.post(target, body, limit.signal);
      const pauseMs = retryAfterMs(answer.status, answer.headers["retry-after"]);
      if (pauseMs === undefined) return contentOf(answer);
      await sleep(server.clock, pauseMs, limit.signal);
    }
  } catch (error) {
    if (error instanceof AnswerError) throw new WebhookError(error.message, { cause: error });
    throw new WebhookError(`Post ${goQuote(url)}: ${faultOf(error, limit.signal)}`, { cause: error });
  } finally {
    limit.cancel();
  }
}

/** The other side answered, but not well. */
class AnswerError extends Error {
  override name = "AnswerError";
}

function faultOf(error: unknown, limit: AbortSignal): string {
  if (limit.aborted) return limit.reason instanceof DOMException && limit.reason.name === "TimeoutError" ? "context deadline exceeded" : "context canceled";
  return error instanceof Error ? error.message : String(error);
}

/** Paths are cleaned as client-go does: no doubled slash, none at the end, no `..`. */
function urlOf({ url = "", service }: ClientConfig): string {
  if (service !== undefined) {
    const { namespace, name, path = "/", port = 443 } = service;
    return `https://${name}.${namespace}.svc:${port}${cleaned(path)}`;
  }
  const [, origin = url, path = ""] = /^([a-z]+:\/\/[^/]*)(.*)$/i.exec(url) ?? [];
  return `${origin}${cleaned(path)}`;
}

function cleaned(path: string): string {
  const joined = posix.join("/", path);
  return joined === "/" ? joined : joined.replace(/\/$/, "");
}

function targetOf(server: ServerState, { service, caBundle }: ClientConfig, url: string): WebhookTarget {
  return {
    url,
    ...(service !== undefined && { address: serviceAddresses(server, { port: 443, ...service })[0]! }),
    ...(caBundle !== undefined && { caBundle: Buffer.from(caBundle, "base64").toString() }),
  };
}

function contentOf({ status, headers, body }: WebhookAnswer): Uint8Array {
  if (status < 200 || status > 299) throw new AnswerError(failureText(status, Buffer.from(body).toString().trim()));
  if (body.length === 0) throw new AnswerError(`0-length response with status code: ${status} and content type: ${headers["content-type"] ?? ""}`);
  return body;
}
