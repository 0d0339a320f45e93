/**
 * Requests as values: what a client hands to a transport and a transport hands to the API server. Plain data and bytes, so that the
 * same request travels over TLS or in process.
 */

export interface ApiRequest {
  readonly method: string;
  /** Path without the query, percent-encoded as on the wire. */
  readonly path: string;
  /** Query string without `?`, as on the wire. */
  readonly query: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Who is at the other end, as the transport knows it. */
  readonly peer: Peer;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** What a transport knows of its client before any header is read. */
export interface Peer {
  readonly address: string;
  /** DER of the client certificate, verified against none: the authenticator does that. */
  readonly certificate?: Uint8Array;
  /** A component in the server's own process: its identity is fixed when the transport is made. */
  readonly identity?: UserInfo;
  readonly isHttp2: boolean;
}

/** authentication.k8s.io/v1 UserInfo. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ApiResponse {
  readonly status: number;
  /** Lower-case names; a list is sent as several headers of that name. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: ResponseBody;
}

/**
 * - bytes: the whole answer
 * - stream: chunks as they come (watch, logs), or a long document in pieces (`isDocument`); closed by the consumer with `return`
 * - upgrade: the connection changes protocol (WebSocket, SPDY); `accept` gets the raw duplex stream and resolves when it has ended
 */
export type ResponseBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "stream"; readonly chunks: AsyncIterable<Uint8Array>; readonly isDocument?: boolean }
  | { readonly kind: "upgrade"; readonly accept: (connection: UpgradedConnection) => Promise<void> };

/** A connection after its protocol was switched. `head` are bytes that the client sent along with its request. */
export interface UpgradedConnection {
  readonly stream: import("node:stream").Duplex;
  readonly head: Uint8Array;
}

/** Sends a request and resolves with the answer's head; rejects only when the connection fails. */
export type Transport = (request: Omit<ApiRequest, "peer">) => Promise<ApiResponse>;

const encoder = new TextEncoder();

export function bytesResponse(status: number, contentType: string, body: string | Uint8Array, headers: ApiResponse["headers"] = {}): ApiResponse {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  return { status, headers: { "content-type": contentType, ...headers }, body: { kind: "bytes", bytes } };
}

/** The value of a header, or undefined. */
export function headerOf(headers: ApiResponse["headers"], name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" || value === undefined ? value : value[0];
}
