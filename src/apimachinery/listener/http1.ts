/** HTTP/1.1 requests and upgrades as request values. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { once } from "node:events";
import type { ApiRequest, ApiResponse, Peer } from "../request.ts";
import { readBody } from "./read-body.ts";
import type { ServeContext } from "./tls-listener.ts";

/** Why a request ends when its client is gone: one value, since every request ends. */
export const clientLeft = new DOMException("the client left", "AbortError");

export function serveHttp1(context: ServeContext, peer: Peer, request: IncomingMessage, response: ServerResponse): void {
  const gone = new AbortController();
  response.on("close", () => gone.abort(clientLeft));
  answer(context, peer, request, response, gone.signal).catch((error: unknown) => {
    context.log.debug("Answer was not delivered", { error });
    response.destroy();
  });
}

async function answer(context: ServeContext, peer: Peer, request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const body = await readBody(request, context.maxBodyBytes);
  const result = await context.handler(requestValue(peer, request, body, signal));
  const isHead = request.method === "HEAD";
  for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value as string | string[]);
  if (result.body.kind === "bytes") {
    response.setHeader("content-length", result.body.bytes.length);
    response.writeHead(result.status);
    response.end(isHead ? undefined : result.body.bytes);
    return;
  }
  if (result.body.kind === "upgrade") {
    response.writeHead(400);
    response.end();
    return;
  }
  response.writeHead(result.status);
  response.flushHeaders();
  for await (const chunk of result.body.chunks) {
    if (!response.write(chunk) && !signal.aborted) await Promise.race([once(response, "drain"), once(response, "close")]);
    if (signal.aborted) return;
  }
  response.end();
}

export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** A request that asks for another protocol. The handler may refuse with an ordinary answer. */
export function serveUpgrade(context: ServeContext, peer: Peer, upgrade: UpgradeRequest): void {
  const { request, socket, head } = upgrade;
  const gone = new AbortController();
  socket.on("close", () => gone.abort(clientLeft));
  socket.on("error", (error) => context.log.debug("Upgraded connection failed", { error }));
  const serve = async () => {
    const result = await context.handler(requestValue(peer, request, new Uint8Array(), gone.signal));
    socket.write(responseHead(result));
    if (result.body.kind === "upgrade") await result.body.accept({ stream: socket, head });
    else if (result.body.kind === "bytes") socket.end(result.body.bytes);
    else {
      for await (const chunk of result.body.chunks) socket.write(chunk);
      socket.end();
    }
  };
  serve().catch((error: unknown) => {
    context.log.debug("Upgraded connection failed", { error });
    socket.destroy();
  });
}

/**
 * Answers a request whose method the parser of Node does not know. `packet` is what was read: the whole head, or the connection is given up.
 * The connection ends with the answer.
 */
export function serveUnknownMethod(context: ServeContext, peer: Peer, connection: { readonly socket: Duplex; readonly packet: Buffer }): void {
  const { socket, packet } = connection;
  const end = packet.indexOf("\r\n\r\n");
  const [requestLine = "", ...lines] = packet.subarray(0, Math.max(end, 0)).toString("latin1").split("\r\n");
  const match = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.1$/.exec(requestLine);
  if (match === null) {
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    return;
  }
  const headers = Object.fromEntries(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const [path, query] = splitTarget(match[2]!);
  const gone = new AbortController();
  socket.on("close", () => gone.abort(new DOMException("the client left", "AbortError")));
  context
    .handler({ method: match[1]!, path, query, headers, body: new Uint8Array(), peer, signal: gone.signal })
    .then((response) =>
      socket.end(Buffer.concat([Buffer.from(responseHead(response)), response.body.kind === "bytes" ? response.body.bytes : new Uint8Array()])),
    )
    .catch((error: unknown) => {
      context.log.debug("Answer was not delivered", { error });
      socket.destroy();
    });
}

function responseHead(response: ApiResponse): string {
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`];
  for (const [name, value] of Object.entries(response.headers)) {
    if (response.body.kind === "upgrade" && (name === "audit-id" || name === "cache-control" || name === "content-type")) continue;
    for (const item of typeof value === "string" ? [value] : value) lines.push(`${name}: ${item}`);
  }
  if (response.body.kind === "bytes") lines.push(`content-length: ${response.body.bytes.length}`, "connection: close");
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function requestValue(peer: Peer, request: IncomingMessage, body: Uint8Array, signal: AbortSignal): ApiRequest {
  const [path, query] = splitTarget(request.url ?? "/");
  return { method: request.method ?? "GET", path, query, headers: flatten(request.headersDistinct), body, peer, signal };
}

export function splitTarget(target: string): [path: string, query: string] {
  const mark = target.indexOf("?");
  return mark < 0 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Repeated headers are joined as HTTP allows; those whose values may hold commas with a line feed. */
function flatten(headers: NodeJS.Dict<string[]>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, values] of Object.entries(headers)) if (values !== undefined) flat[name] = values.join(joinerOf(name));
  return flat;
}

export function joinerOf(name: string): string {
  return name.startsWith("impersonate-") || name.startsWith("x-remote-") ? "\n" : ", ";
}
