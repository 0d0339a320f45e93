/** Reaches kubelets over HTTPS: plain requests through HTTP/1.1 with keep-alive, upgrades as raw connections. */
import http from "node:http";
import https from "node:https";
import type { IncomingMessage } from "node:http";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { ForwardTarget, NodeConnector } from "../../apiserver/streaming/node-connector.ts";
import type { Clock } from "../../base/clock.ts";
import type { KeyAndCertificate } from "../certificates/key-store.ts";
import { flatten, join, letGo } from "./http-answers.ts";

export class NodeDialer implements NodeConnector {
  #agent: https.Agent;
  #client: KeyAndCertificate;
  #authority: string;
  readonly #clock: Clock;

  constructor(client: KeyAndCertificate, authority: string, clock: Clock) {
    this.#agent = agentFor(client, authority);
    this.#client = client;
    this.#authority = authority;
    this.#clock = clock;
  }

  /** From now on kubelets are shown this certificate; requests under way keep their connections. */
  renew(client: KeyAndCertificate): void {
    this.#client = client;
    this.#begin();
  }

  /** From now on kubelets are checked with this bundle. */
  trust(authority: string): void {
    this.#authority = authority;
    this.#begin();
  }

  #begin(): void {
    letGo(this.#agent);
    this.#agent = agentFor(this.#client, this.#authority);
  }

  send(target: { readonly node: string; readonly address: string; readonly port: number }, request: Omit<ApiRequest, "peer">): Promise<ApiResponse> {
    return this.#request({ ...target, scheme: "https", isNode: true }, request);
  }

  forward(target: ForwardTarget, request: Omit<ApiRequest, "peer">): Promise<ApiResponse> {
    return this.#request(target, request);
  }

  #request(target: ForwardTarget, request: Omit<ApiRequest, "peer">): Promise<ApiResponse> {
    const isUpgrade = request.headers["upgrade"] !== undefined;
    return new Promise((resolve, reject) => {
      const outgoing = (target.scheme === "https" ? https : http).request({
        ...this.#connectionOptions(target, isUpgrade),
        host: target.address,
        port: target.port,
        method: request.method,
        path: request.query === "" ? request.path : `${request.path}?${request.query}`,
        headers: forwardable(request.headers, isUpgrade),
        signal: request.signal,
      });
      // A kubelet that does not answer is given up on after 30 s.
      const cancel = this.#clock.after(30_000, () => outgoing.destroy(new Error(`${target.address}:${target.port} did not answer`)));
      outgoing.on("error", (error) => {
        cancel();
        reject(error);
      });
      outgoing.on("response", (response) => {
        cancel();
        resolve(plainAnswer(response));
      });
      outgoing.on("upgrade", (response, socket, head) => {
        cancel();
        resolve({ status: 101, headers: flatten(response.headers), body: { kind: "upgrade", accept: (client) => join(client, { stream: socket, head }) } });
      });
      outgoing.end(request.body.length > 0 ? request.body : undefined);
    });
  }

  #connectionOptions({ scheme, isNode }: ForwardTarget, isUpgrade: boolean): https.RequestOptions {
    if (!isNode) return scheme === "https" ? { agent: false, rejectUnauthorized: false } : { agent: false };
    return isUpgrade ? { ...this.#agent.options, agent: false } : { agent: this.#agent };
  }

  async close(): Promise<void> {
    this.#agent.destroy();
  }
}

function agentFor(client: KeyAndCertificate, authority: string): https.Agent {
  return new https.Agent({ keepAlive: true, key: client.key, cert: client.certificate, ca: authority, checkServerIdentity: () => undefined });
}

function forwardable(headers: Readonly<Record<string, string>>, isUpgrade: boolean): Record<string, string> {
  const dropped = new Set(["host", "content-length", "transfer-encoding", ...(isUpgrade ? [] : ["connection", "keep-alive"])]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

function plainAnswer(response: IncomingMessage): ApiResponse {
  // HTTP/2 clients may not be sent it.
  const { connection: _connection, ...headers } = flatten(response.headers);
  return { status: response.statusCode ?? 502, headers, body: { kind: "stream", chunks: response as AsyncIterable<Uint8Array> } };
}
