/** HTTP/2 streams as request values, over Node's stream API (its compatibility layer costs a third of the throughput). */
import http2 from "node:http2";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { OnDemandSignal } from "../../base/on-demand-signal.ts";
import type { ApiRequest, Peer, ResponseBody } from "../request.ts";
import { clientLeft, joinerOf, splitTarget } from "./http1.ts";
import { readBody } from "./read-body.ts";
import type { ServeContext } from "./tls-listener.ts";

export function serveHttp2Stream(context: ServeContext, peer: Peer, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const gone = new OnDemandSignal();
  stream.on("close", () => gone.abort(clientLeft));
  stream.on("error", (error) => context.log.debug("HTTP/2 stream failed", { error }));
  answer(context, peer, stream, { headers, gone }).catch((error: unknown) => {
    context.log.debug("Answer was not delivered", { error });
    if (!stream.destroyed) stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  });
}

async function answer(
  context: ServeContext,
  peer: Peer,
  stream: ServerHttp2Stream,
  request: { headers: IncomingHttpHeaders; gone: OnDemandSignal },
): Promise<void> {
  const { headers, gone } = request;
  const method = headers[":method"] ?? "GET";
  const [path, query] = splitTarget(headers[":path"] ?? "/");
  const body = method === "GET" || method === "HEAD" ? noBytes : await bodyInTime(context, stream);
  const result = await context.handler(new StreamRequest({ method, path, query, headers: flatten(headers), body, peer }, gone));
  if (stream.destroyed || stream.headersSent) return;
  const head: OutgoingHttpHeaders = { ":status": result.status, ...(result.headers as OutgoingHttpHeaders) };
  switch (result.body.kind) {
    case "bytes":
      head["content-length"] = result.body.bytes.length;
      stream.respond(head, { endStream: method === "HEAD" });
      if (method !== "HEAD") stream.end(result.body.bytes);
      return;
    case "upgrade":
      stream.respond({ ":status": 400 }, { endStream: true });
      return;
    case "stream":
      stream.respond(head);
      await writeChunks(stream, result.body);
  }
}

/** A client that stops sending is not waited for; half a body is none. Throws when the client leaves. */
async function bodyInTime({ maxBodyBytes, requestLimitMs }: ServeContext, stream: ServerHttp2Stream): Promise<Uint8Array> {
  stream.setTimeout(requestLimitMs, () => stream.close(http2.constants.NGHTTP2_CANCEL));
  const body = await readBody(stream, maxBodyBytes);
  stream.setTimeout(0);
  // A stream that is cancelled ends like one that is complete.
  if (stream.aborted || stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) throw clientLeft;
  return body;
}

/** Hands chunks on as fast as the client takes them; leaves the source when the client is gone. */
async function writeChunks(stream: ServerHttp2Stream, body: ResponseBody & { kind: "stream" }): Promise<void> {
  let proceed: (() => void) | undefined;
  const wake = () => proceed?.();
  stream.on("drain", wake);
  stream.on("close", wake);
  for await (const chunk of body.chunks) {
    if (stream.destroyed) return;
    if (!stream.write(chunk) && !stream.destroyed) await new Promise<void>((resolve) => (proceed = resolve));
    if (stream.destroyed) return;
  }
  stream.end();
}

const noBytes = new Uint8Array();

/** A request whose signal is made when it is asked for. */
class StreamRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly peer: Peer;
  readonly #gone: OnDemandSignal;

  constructor(values: Omit<ApiRequest, "signal">, gone: OnDemandSignal) {
    this.method = values.method;
    this.path = values.path;
    this.query = values.query;
    this.headers = values.headers;
    this.body = values.body;
    this.peer = values.peer;
    this.#gone = gone;
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }
}

function flatten(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (name.charCodeAt(0) === colon || value === undefined) continue;
    const joiner = joinerOf(name);
    if (typeof value !== "string") flat[name] = value.join(joiner);
    else flat[name] = joiner === ", " ? value : value.split(", ").join(joiner);
  }
  return flat;
}

const colon = 0x3a;
