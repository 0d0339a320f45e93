/**
 * Connections to webhooks: HTTP/2 where the other side speaks it, else HTTP/1.1, kept open per target; Services are dialled at one of their
 * endpoints, over HTTP/1.1. Redirects are not followed. Failures are worded as Kubernetes' clients word them.
 */
import http2 from "node:http2";
import https from "node:https";
import { isIP } from "node:net";
import tls from "node:tls";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { acceptedEncoding, readAnswerBody } from "./answer-body.ts";
import { connectionFault } from "./connection-faults.ts";
import type { WebhookAnswer, WebhookConnector, WebhookTarget } from "../../apiserver/webhooks/webhook-connector.ts";

export class WebhookConnections implements WebhookConnector {
  readonly #agents = new Map<string, https.Agent>();
  /** Undefined: the other side does not speak HTTP/2. */
  readonly #sessions = new Map<string, Promise<ClientHttp2Session | undefined>>();

  async post(target: WebhookTarget, body: Uint8Array, signal: AbortSignal): Promise<WebhookAnswer> {
    signal.throwIfAborted();
    const url = new URL(target.url);
    try {
      const session = target.address === undefined ? await abortable(this.#session(url, target), signal) : undefined;
      return session === undefined
        ? await this.#postOverHttp1(url, target, { body, signal })
        : await postOverHttp2(session, url, { body, signal, authority: authorityOf(target) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new Error(connectionFault(error, hostOf(url), target.address ?? { host: hostOf(url), port: portOf(url) }), { cause: error });
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) agent.destroy();
    for (const pending of this.#sessions.values()) (await pending.catch(() => undefined))?.destroy();
    this.#sessions.clear();
  }

  #session(url: URL, target: WebhookTarget): Promise<ClientHttp2Session | undefined> {
    const key = keyOf(url, target);
    let session = this.#sessions.get(key);
    if (session === undefined) {
      const forget = () => this.#sessions.delete(key);
      session = openSession(url, target, forget);
      this.#sessions.set(key, session);
      session.catch(forget);
    }
    return session;
  }

  #postOverHttp1(url: URL, target: WebhookTarget, { body, signal }: Sending): Promise<WebhookAnswer> {
    const key = keyOf(url, target);
    let agent = this.#agents.get(key);
    if (agent === undefined) this.#agents.set(key, (agent = new https.Agent({ keepAlive: true, ...trust(target) })));
    return new Promise((resolve, reject) => {
      const outgoing = https.request({
        agent,
        host: target.address?.host ?? hostOf(url),
        port: target.address?.port ?? portOf(url),
        ...(isIP(hostOf(url)) === 0 && { servername: hostOf(url) }),
        method: "POST",
        path: url.pathname + url.search,
        headers: { host: authorityOf(target), ...headersOf(body) },
        signal,
      });
      outgoing.on("error", reject);
      outgoing.on("response", (response) => {
        readAnswerBody(response, response.headers["content-encoding"], maxAnswerBytes).then(
          (bytes) => resolve({ status: response.statusCode ?? 0, headers: flat(response.headers), body: bytes }),
          reject,
        );
      });
      outgoing.end(body);
    });
  }
}

interface Sending {
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

const maxAnswerBytes = 16 * 1024 * 1024;

const keyOf = (url: URL, { address, caBundle = "" }: WebhookTarget) => `${url.host} ${address?.host ?? ""} ${address?.port ?? ""} ${caBundle}`;
/** As it is written: a URL object would drop the default port. */
const authorityOf = ({ url }: WebhookTarget) => /^https:\/\/([^/?#]*)/.exec(url)?.[1] ?? "";
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, "");
const portOf = ({ port }: URL) => (port === "" ? 443 : Number(port));
const headersOf = (body: Uint8Array) => ({
  accept: "application/json, */*",
  ...acceptedEncoding,
  "content-type": "application/json",
  "user-agent": "kube-apiserver-admission",
  "content-length": String(body.length),
});

/** As Go has it, each certificate of a bundle is trusted for itself: it may be the server's own. */
const trust = ({ caBundle }: { readonly caBundle?: string | undefined }) => (caBundle === undefined ? {} : { ca: caBundle, allowPartialTrustChain: true });

/** Tells by the handshake which protocol is spoken. */
function openSession(url: URL, { caBundle }: WebhookTarget, forget: () => void): Promise<ClientHttp2Session | undefined> {
  return new Promise((resolve, reject) => {
    const host = hostOf(url);
    const socket = tls.connect({
      host,
      port: portOf(url),
      ALPNProtocols: ["h2", "http/1.1"],
      ...(isIP(host) === 0 && { servername: host }),
      ...trust({ caBundle }),
    });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      if (socket.alpnProtocol !== "h2") {
        socket.destroy();
        return resolve(undefined);
      }
      const session = http2.connect(url.origin, { createConnection: () => socket });
      // What fails is told to each request; an idle connection keeps no process alive.
      session.on("error", forget);
      session.on("close", forget);
      session.on("goaway", forget);
      session.unref();
      resolve(session);
    });
  });
}

function postOverHttp2(session: ClientHttp2Session, url: URL, { body, signal, authority }: Sending & { readonly authority: string }): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": url.pathname + url.search, ":authority": authority, ...headersOf(body) }, { signal });
    stream.on("error", reject);
    stream.on("response", (headers) => {
      readAnswerBody(stream, headers["content-encoding"], maxAnswerBytes).then(
        (bytes) => resolve({ status: Number(headers[":status"] ?? 0), headers: flat(headers), body: bytes }),
        reject,
      );
    });
    stream.on("close", () => reject(new Error("unexpected EOF")));
    stream.end(body);
  });
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" && !name.startsWith(":") ? [[name, value]] : [])));
}

/** Settles with the promise, or rejects when the signal aborts first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
