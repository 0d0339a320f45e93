/** HTTP/2 streams as request values, over Node's stream API (its compatibility layer costs a third of the throughput). */
import { once } from "node:events";
import http2 from "node:http2";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Peer } from "../request.ts";
import { clientLeft, joinerOf, splitTarget } from "./http1.ts";
import { readBody } from "./read-body.ts";
import type { ServeContext } from "./tls-listener.ts";

export function serveHttp2Stream(context: ServeContext, peer: Peer, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const gone = new AbortController();
  stream.on("close", () => gone.abort(clientLeft));
  stream.on("error", (error) => context.log.debug("HTTP/2 stream failed", { error }));
  answer(context, peer, stream, { headers, signal: gone.signal }).catch((error: unknown) => {
    context.log.debug("Answer was not delivered", { error });
    if (!stream.destroyed) stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  });
}

async function answer(context: ServeContext, peer: Peer, stream: ServerHttp2Stream, request: { headers: IncomingHttpHeaders; signal: AbortSignal }): Promise<void> {
  const { headers, signal } = request;
  const method = headers[":method"] ?? "GET";
  const [path, query] = splitTarget(headers[":path"] ?? "/");
  const body = method === "GET" || method === "HEAD" ? new Uint8Array() : await readBody(stream, context.maxBodyBytes);
  const result = await context.handler({ method, path, query, headers: flatten(headers), body, peer, signal });
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
      for await (const chunk of result.body.chunks) {
        if (signal.aborted) return;
        if (!stream.write(chunk)) await Promise.race([once(stream, "drain"), once(stream, "close")]);
        if (signal.aborted) return;
      }
      stream.end();
  }
}

function flatten(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    flat[name] = typeof value === "string" ? value.split(", ").join(joinerOf(name)) : value.join(joinerOf(name));
  }
  return flat;
}
