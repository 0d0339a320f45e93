/**
 * HTTPS for a request handler: HTTP/1.1 and HTTP/2 on one port, protocol upgrades on HTTP/1.1. A connection is given to Node's HTTP/1
 * server or to an HTTP/2 session by what was negotiated; both end in the same handler over request values.
 */
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import type { Log } from "../../base/log.ts";
import type { ApiRequest, ApiResponse, Peer } from "../request.ts";
import { serveHttp1, serveUnknownMethod, serveUpgrade } from "./http1.ts";
import { serveHttp2Stream } from "./http2.ts";

export type RequestHandler = (request: ApiRequest) => Promise<ApiResponse>;

export interface TlsListenerOptions {
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** PEM. */
  readonly key: string;
  /** PEM, the chain. */
  readonly certificate: string;
  readonly handler: RequestHandler;
  readonly log: Log;
  /** Bodies are read up to this size; one byte more tells the handler that there was more. */
  readonly maxBodyBytes: number;
  /** What is accepted of TLS; 1.2 and strong suites when absent. */
  readonly protocol?: TlsProtocol;
  readonly named?: NamedCertificates;
  /** Time in which a request must have come; 90 s when absent. */
  readonly requestLimitMs?: number;
  /** Streams that a client may reset at once, before it is sent away; 100,000 when absent. */
  readonly resetBurst?: number;
}

export interface TlsProtocol {
  readonly minVersion?: tls.SecureVersion;
  /** In OpenSSL's notation. */
  readonly ciphers?: string;
}

export interface ServedPair {
  /** PEM. */
  readonly key: string;
  readonly certificate: string;
}

/** By the name, in lower case, under which a client asks for the server (SNI); `*` may stand for its first label. */
export type NamedCertificates = ReadonlyMap<string, ServedPair>;

export interface TlsListener {
  readonly port: number;
  /** What connections from now on are shown; those that are open stay. */
  setCertificate(pair: ServedPair): void;
  setNamedCertificates(named: NamedCertificates): void;
  /** Stops listening, lets answers in progress end for a moment, then closes all connections. */
  close(): Promise<void>;
}

/** Streams of a session: each watch is one. */
const maxConcurrentStreams = 1000;

/** Listens. Rejects when the port is taken or not allowed (`code` EADDRINUSE, EACCES). */
export async function listenTls(options: TlsListenerOptions): Promise<TlsListener> {
  const sockets = new Set<tls.TLSSocket>();
  const limitMs = options.requestLimitMs ?? defaultLimitMs;
  const context: ServeContext = {
    handler: options.handler,
    log: options.log,
    maxBodyBytes: options.maxBodyBytes,
    requestLimitMs: limitMs,
    resetBurst: options.resetBurst ?? 100_000,
  };
  const http1 = http.createServer({
    keepAliveTimeout: 90_000,
    requestTimeout: limitMs,
    headersTimeout: Math.min(limitMs, 32_000),
    connectionsCheckingInterval: Math.min(limitMs, 30_000),
    maxHeaderSize: 1 << 20,
  });
  http1.on("request", (request, response) => serveHttp1(context, peerOf(request.socket as tls.TLSSocket, false), request, response));
  http1.on("upgrade", (request, socket, head) => serveUpgrade(context, peerOf(request.socket as tls.TLSSocket, false), { request, socket, head }));
  // Node looks for slow requests from the time a server listens; this one is handed its connections.
  http1.emit("listening");
  http1.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    if (error.code === "HPE_INVALID_METHOD" && error.rawPacket !== undefined)
      serveUnknownMethod(context, peerOf(socket as tls.TLSSocket, false), { socket, packet: error.rawPacket });
    else if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });
  const protocol: TlsProtocol = { minVersion: "TLSv1.2", ciphers: strongCiphers, ...options.protocol };
  let named = contextsOf(options.named ?? new Map(), protocol);
  const SNICallback: tls.TlsOptions["SNICallback"] = (name, answer) => answer(null, named(name.toLowerCase()));
  const server = tls.createServer(
    { key: options.key, cert: options.certificate, requestCert: true, rejectUnauthorized: false, ALPNProtocols: ["h2", "http/1.1"], SNICallback, ...protocol },
    (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", (error) => options.log.debug("Connection failed", { error }));
      if (socket.alpnProtocol === "h2") serveSession(context, socket);
      else http1.emit("connection", socket);
    },
  );
  server.on("tlsClientError", (error) => options.log.debug("TLS handshake failed", { error }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: ({ key, certificate }) => server.setSecureContext({ key, cert: certificate, ...protocol }),
    setNamedCertificates: (certificates) => (named = contextsOf(certificates, protocol)),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      http1.close();
      for (const socket of sockets) socket.destroySoon();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const defaultLimitMs = 90_000;

/** With forward secrecy and authenticated encryption. */
const strongCiphers = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  ...["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].flatMap((suite) => [`ECDHE-ECDSA-${suite}`, `ECDHE-RSA-${suite}`]),
].join(":");

function contextsOf(named: NamedCertificates, protocol: TlsProtocol): (name: string) => tls.SecureContext | undefined {
  const contexts = new Map([...named].map(([name, { key, certificate }]) => [name, tls.createSecureContext({ key, cert: certificate, ...protocol })]));
  return (name) => contexts.get(name) ?? contexts.get(name.replace(/^[^.]+/, "*"));
}

export interface ServeContext {
  readonly requestLimitMs: number;
  readonly resetBurst: number;
  readonly handler: RequestHandler;
  readonly log: Log;
  readonly maxBodyBytes: number;
}

function serveSession(context: ServeContext, socket: tls.TLSSocket): void {
  const peer = peerOf(socket, true);
  const session = http2.performServerHandshake(socket, {
    settings: { maxConcurrentStreams, initialWindowSize: 1 << 20 },
    maxSessionMemory: 256,
    // Every watch that a client closes is a stream reset; Node's defaults send such clients away.
    streamResetBurst: context.resetBurst,
    streamResetRate: 10_000,
  } as http2.ServerOptions);
  session.on("stream", (stream, headers) => serveHttp2Stream(context, peer, stream as http2.ServerHttp2Stream, headers));
  session.on("error", (error) => context.log.debug("HTTP/2 session failed", { error }));
}

const peers = new WeakMap<tls.TLSSocket, Peer>();

/** Who is at the other end of a connection: read once. */
function peerOf(socket: tls.TLSSocket, isHttp2: boolean): Peer {
  let peer = peers.get(socket);
  if (peer === undefined) {
    const certificate = socket.getPeerX509Certificate()?.raw;
    peer = { address: socket.remoteAddress ?? "", isHttp2, ...(certificate !== undefined && { certificate }) };
    peers.set(socket, peer);
  }
  return peer;
}
