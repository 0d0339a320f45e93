import { connect, constants } from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from "node:http2";
import type { Clock } from "../../base/clock.ts";
import type { ApiResponse, Transport } from "../../apimachinery/request.ts";

/**
 * A transport over HTTPS with HTTP/2: one connection for all requests, opened by the first and opened again after it was lost. State:
 * `session` is the connection new requests use, or undefined. While requests are open the server is asked for a sign of life every 30 s
 * (a watch may be silent for long, and a dead connection is too); without an answer in 15 s they all fail.
 */
export class TlsTransport implements AsyncDisposable {
  readonly #options: TlsTransportOptions;
  #session: ClientHttp2Session | undefined;
  /** What that session has shown of itself. */
  #shown: ClientCertificate | undefined;
  readonly #sessions = new Set<ClientHttp2Session>();
  #isClosed = false;

  constructor(options: TlsTransportOptions) {
    this.#options = options;
  }

  /** Rejects with a TransportError when the connection fails before the answer's head, with the signal's reason when that aborts. */
  readonly send: Transport = async ({ method, path, query, headers, body, signal }) => {
    signal.throwIfAborted();
    const token = await this.#options.bearerToken?.();
    const session = await this.#connected(await this.#options.clientCertificate?.());
    const stream = session.request(
      {
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body.length > 0 && { "content-length": String(body.length) }),
        [constants.HTTP2_HEADER_METHOD]: method,
        [constants.HTTP2_HEADER_PATH]: query === "" ? path : `${path}?${query}`,
      },
      { endStream: body.length === 0 },
    );
    if (body.length > 0) stream.end(body);
    return answerOf(stream, signal);
  };

  /** Ends the connections; open requests fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#session = undefined;
    await Promise.all(
      [...this.#sessions].map(
        (session) =>
          new Promise<void>((resolve) => {
            session.once("close", resolve);
            session.destroy();
          }),
      ),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #connected(shown: ClientCertificate | undefined): Promise<ClientHttp2Session> {
    const { ca } = this.#options;
    if (typeof ca !== "function") return this.#live(shown) ?? this.#connect(shown, ca);
    // While it was asked another request may have connected.
    return this.#live(shown) ?? (await ca().then((trusted) => this.#live(shown) ?? this.#connect(shown, trusted)));
  }

  #live(shown: ClientCertificate | undefined): ClientHttp2Session | undefined {
    if (this.#isClosed) throw new TransportError("the transport was closed");
    const current = this.#session;
    return current !== undefined && !current.closed && !current.destroyed && this.#shown === shown ? current : undefined;
  }

  #connect(shown: ClientCertificate | undefined, ca: string | Uint8Array | undefined): ClientHttp2Session {
    // Requests under way end on the old one.
    this.#session?.close();
    const { url, serverName } = this.#options;
    const { key, certificate } = shown ?? this.#options;
    const session = connect(url, {
      ALPNProtocols: ["h2"],
      // As Go has it, a kubeconfig may name the server's own certificate as what to trust.
      ...(ca !== undefined && { ca: Buffer.from(ca), allowPartialTrustChain: true }),
      ...(certificate !== undefined && { cert: Buffer.from(certificate) }),
      ...(key !== undefined && { key: Buffer.from(key) }),
      ...(serverName !== undefined && { servername: serverName }),
      settings: { enablePush: false, initialWindowSize: 4 << 20 },
      maxSessionMemory: 1000,
    });
    this.#session = session;
    this.#shown = shown;
    this.#sessions.add(session);
    // Each open request hears of the failure itself; without a listener Node would end the process.
    session.on("error", () => undefined);
    session.on("connect", () => session.setLocalWindowSize(16 << 20));
    session.on("goaway", () => this.#retire(session));
    const stopPings = this.#watchLife(session);
    session.on("close", () => {
      stopPings();
      this.#retire(session);
      this.#sessions.delete(session);
    });
    return session;
  }

  #retire(session: ClientHttp2Session): void {
    if (this.#session === session) this.#session = undefined;
  }

  #watchLife(session: ClientHttp2Session): () => void {
    const { clock } = this.#options;
    let cancel = () => undefined as void;
    const ask = () => {
      const cancelLimit = clock.after(pingTimeoutMs, () => session.destroy(new TransportError("the server gives no sign of life")));
      cancel = cancelLimit;
      const isSent = session.ping((error) => {
        cancelLimit();
        if (error === null && !session.destroyed) cancel = clock.after(pingIntervalMs, ask);
      });
      if (!isSent) cancelLimit();
    };
    cancel = clock.after(pingIntervalMs, ask);
    return () => cancel();
  }
}

/** The connection failed, before or during an answer. */
export class TransportError extends Error {
  override name = "TransportError";
  readonly reason = "ConnectionFailed";
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

export interface ClientCertificate {
  /** PEM. */
  readonly key: string;
  readonly certificate: string;
}

/** Where the server is, whom to trust, and who we are. */
export interface TlsTransportOptions {
  /** `https://host:port`. */
  readonly url: string;
  readonly clock: Clock;
  /** PEM, asked for before each connection when it is a function; the machine's own authorities when absent. */
  readonly ca?: string | Uint8Array | (() => Promise<string>);
  /** PEM of a client certificate and its key. */
  readonly certificate?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** Asked before every request, in the place of the two: another object than before is shown in a new connection. */
  readonly clientCertificate?: () => Promise<ClientCertificate>;
  /** Asked before every request, so that a token may be renewed. */
  readonly bearerToken?: () => string | Promise<string>;
  /** The name the server's certificate is checked for, when it is not the URL's. */
  readonly serverName?: string;
}

const pingIntervalMs = 30_000;
const pingTimeoutMs = 15_000;

/** Waits for the head; the body streams until it ends, fails, is returned by its reader, or `signal` aborts. */
function answerOf(stream: ClientHttp2Stream, signal: AbortSignal): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const onAbort = () => stream.close(constants.NGHTTP2_CANCEL);
    signal.addEventListener("abort", onAbort, { once: true });
    const fail = (error?: Error) => reject(signal.aborted ? signal.reason : new TransportError(error?.message ?? "the connection was closed", error));
    stream.on("error", fail);
    stream.once("close", () => {
      signal.removeEventListener("abort", onAbort);
      fail();
    });
    stream.once("response", (head) =>
      resolve({ status: head[":status"] ?? 0, headers: plainHeaders(head), body: { kind: "stream", chunks: chunksOf(stream, signal) } }),
    );
  });
}

async function* chunksOf(stream: ClientHttp2Stream, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
    signal.throwIfAborted();
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new TransportError(`the server reset the answer (code ${stream.rstCode})`);
  } catch (error) {
    signal.throwIfAborted();
    // Node 26.10 calls it a premature close when the stream has ended while its reader was elsewhere.
    if (stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
    throw error instanceof TransportError ? error : new TransportError("the connection failed during an answer", error);
  } finally {
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
  }
}

function plainHeaders(head: IncomingHttpHeaders & IncomingHttpStatusHeader): ApiResponse["headers"] {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(head))
    if (!name.startsWith(":") && value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
  return headers;
}
