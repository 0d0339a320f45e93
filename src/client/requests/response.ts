import { headerOf } from "../../apimachinery/request.ts";
import { StatusError } from "../../apimachinery/status.ts";
import type { ApiResponse, ResponseBody } from "../../apimachinery/request.ts";
import type { Status } from "../../apimachinery/status.ts";

/** Reading answers: bodies, errors, watch frames. */

/** The whole body as bytes. */
export async function readBody(body: ResponseBody): Promise<Uint8Array> {
  if (body.kind === "bytes") return body.bytes;
  if (body.kind === "upgrade") return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.chunks) chunks.push(chunk);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/** A body as text, without copying its bytes first. */
export function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

/** What an answer that is not 2xx means; `subject` is what was asked for, such as `pods web`. */
export function errorOf(response: ApiResponse, body: Uint8Array, asked: { method: string; subject: string }): StatusError {
  const text = textOf(body);
  const status = parseStatus(text);
  if (status !== undefined) return new StatusError({ code: response.status, ...status });
  const retryAfterSeconds = retryAfterOf(response);
  const { reason, message } = unreadable(response.status, asked.method, text.trim());
  return new StatusError({
    message: `${message} (${asked.method.toLowerCase()} ${asked.subject})`,
    reason,
    code: response.status,
    details: {
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      causes: [{ reason: "UnexpectedServerResponse", message: text.trim() === "" ? "unknown" : text.trim() }],
    },
  });
}

/** Seconds of the Retry-After header, or undefined. */
export function retryAfterOf(response: ApiResponse): number | undefined {
  const header = headerOf(response.headers, "retry-after");
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
}

/** JSON documents one per line, in batches as the chunks bring them; an incomplete last line is dropped. */
export async function* decodeFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown[], void> {
  let pending: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(newline);
    if (end < 0) {
      pending.push(chunk);
      continue;
    }
    const complete = pending.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...pending, chunk.subarray(0, end)]);
    pending = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    const frames: unknown[] = [];
    for (const line of decoder.decode(complete).split("\n")) if (line !== "") frames.push(JSON.parse(line));
    if (frames.length > 0) yield frames;
  }
}

const newline = 0x0a;
const decoder = new TextDecoder();

function parseStatus(text: string): Omit<Status, "kind" | "apiVersion" | "status"> | undefined {
  if (!text.startsWith("{")) return undefined;
  let parsed: Partial<Status>;
  try {
    parsed = JSON.parse(text) as Partial<Status>;
  } catch {
    // A proxy's answer cut short is no Status; the caller reports its text.
    return undefined;
  }
  if (parsed.kind !== "Status") return undefined;
  const { kind: _kind, apiVersion: _apiVersion, status: _status, ...rest } = parsed as Status;
  return rest;
}

/** How clients of Kubernetes word an answer whose body is not a Status. */
function unreadable(code: number, method: string, text: string): { reason: string; message: string } {
  switch (code) {
    case 400:
      return { reason: "BadRequest", message: "the server rejected our request for an unknown reason" };
    case 401:
      return { reason: "Unauthorized", message: "the server has asked for the client to provide credentials" };
    case 403:
      return { reason: "Forbidden", message: text === "" ? "forbidden" : text };
    case 404:
      return { reason: "NotFound", message: "the server could not find the requested resource" };
    case 405:
      return { reason: "MethodNotAllowed", message: "the server does not allow this method on the requested resource" };
    case 406:
      return { reason: "NotAcceptable", message: "the server was unable to respond with a content type that the client supports" };
    case 409:
      return { reason: method === "POST" ? "AlreadyExists" : "Conflict", message: "the server reported a conflict" };
    case 410:
      return { reason: "Expired", message: "the resource version is too old" };
    case 413:
      return { reason: "RequestEntityTooLarge", message: "the request is too large" };
    case 415:
      return { reason: "UnsupportedMediaType", message: "the body of the request was in an unknown format" };
    case 422:
      return { reason: "Invalid", message: "the server rejected our request due to an error in our request" };
    case 429:
      return { reason: "TooManyRequests", message: "the server has received too many requests and has asked us to try again later" };
    case 503:
      return { reason: "ServiceUnavailable", message: "the server is currently unable to handle the request" };
    case 504:
      return { reason: "Timeout", message: "the server was unable to return a response in the time allotted, but may still be processing the request" };
    default:
      return code >= 500
        ? {
            reason: "InternalError",
            message: `an error on the server (${JSON.stringify(text === "" ? "unknown" : text)}) has prevented the request from succeeding`,
          }
        : { reason: "Unknown", message: `the server responded with the status code ${code} but did not return more information` };
  }
}
