/** Posts reviews to the server that a kubeconfig file names. Redirects are not followed. */
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { dirname, resolve } from "node:path";
import type { RequestOptions } from "node:https";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { yamlToJson } from "../../apimachinery/yaml/yaml.ts";
import { WebhookError } from "../../apiserver/webhooks/review-webhook.ts";
import type { ReviewAnswer, ReviewSender } from "../../apiserver/webhooks/review-webhook.ts";
import { acceptedEncoding, readAnswerBody } from "./answer-body.ts";

/** Reads the file once; rejects when it names no server. */
export async function webhookSender(path: string): Promise<ReviewSender> {
  const config = yamlToJson(await readFile(path)) as Kubeconfig;
  const context = config.contexts?.find(({ name }) => name === config["current-context"])?.context;
  const cluster = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users?.find(({ name }) => name === context?.user)?.user ?? {};
  if (cluster?.server === undefined) throw new Error(`${path} names no server`);
  const folder = dirname(path);
  const [ca, cert, key] = await Promise.all([
    material(cluster, "certificate-authority", folder),
    material(user, "client-certificate", folder),
    material(user, "client-key", folder),
  ]);
  const headers = {
    accept: "application/json, */*",
    ...acceptedEncoding,
    "content-type": "application/json",
    ...(user.token !== undefined && { authorization: `Bearer ${user.token}` }),
  };
  const options: RequestOptions = {
    method: "POST",
    headers,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  return (body, { timeoutMs, signal }) => post(`${cluster.server}?timeout=${timeoutMs / 1000}s`, body, { ...options, signal });
}

/** The parts of a kubeconfig that are read. */
interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly { readonly name: string; readonly context?: { readonly cluster?: string; readonly user?: string } }[];
  readonly clusters?: readonly { readonly name: string; readonly cluster?: { readonly server?: string; readonly [member: string]: unknown } }[];
  readonly users?: readonly { readonly name: string; readonly user?: { readonly token?: string; readonly [member: string]: unknown } }[];
}

/** PEM that stands in the file (`NAME-data`, base64) or beside it (`NAME`). */
async function material(entry: Readonly<Record<string, unknown>>, name: string, folder: string): Promise<Buffer | undefined> {
  const inline = entry[`${name}-data`];
  if (typeof inline === "string") return Buffer.from(inline, "base64");
  const path = entry[name];
  return typeof path === "string" ? readFile(resolve(folder, path)) : undefined;
}

const maxBytes = 1024 * 1024;

function post(url: string, body: Uint8Array, options: RequestOptions & { readonly signal: AbortSignal }): Promise<ReviewAnswer> {
  return new Promise((resolvePost, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(new WebhookError(`Post ${goQuote(url)}: ${faultOf(error, options.signal)}`, { cause: error }));
    const sent = request(url, options, (response) => {
      const { "content-encoding": encoding, "retry-after": retryAfter } = response.headers;
      readAnswerBody(response, encoding, maxBytes).then(
        (bytes) => resolvePost({ url, status: response.statusCode ?? 0, body: bytes, ...(retryAfter !== undefined && { retryAfter }) }),
        failed,
      );
    });
    sent.on("error", failed);
    sent.end(body);
  });
}

function faultOf(error: NodeJS.ErrnoException, signal: AbortSignal): string {
  if (signal.aborted) return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
  return error.code === "ECONNRESET" ? "EOF" : error.message;
}
