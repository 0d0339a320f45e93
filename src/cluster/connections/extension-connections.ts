/**
 * Connections to extension API servers: HTTPS with the front proxy's certificate, kept open per server; upgrades on connections of their own.
 * Redirects are not followed.
 */
import https from "node:https";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { ExtensionConnector, ExtensionRequest, ExtensionTarget } from "../../apiserver/aggregation/connector.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import type { KeyAndCertificate } from "../certificates/key-store.ts";
import { connectionFault } from "./connection-faults.ts";
import { flatten, join, letGo } from "./http-answers.ts";

/** Servers whose connections are kept; the one that was called longest ago goes first. */
const keptServers = 64;

export class ExtensionConnections implements ExtensionConnector {
  #client: KeyAndCertificate | undefined;
  readonly #agents = new Map<string, https.Agent>();

  /** `client`: what the front proxy shows of itself. */
  constructor(client: KeyAndCertificate | undefined) {
    this.#client = client;
  }

  /** From now on servers are shown this certificate; requests under way keep their connections. */
  renew(client: KeyAndCertificate): void {
    this.#client = client;
    for (const agent of this.#agents.values()) letGo(agent);
    this.#agents.clear();
  }

  send(target: ExtensionTarget, request: ExtensionRequest): Promise<ApiResponse> {
    const { method, path, query, body, signal } = request;
    const isUpgrade = request.headers["upgrade"] !== undefined;
    return new Promise((resolve, reject) => {
      const outgoing = https.request({
        ...(isUpgrade ? { ...this.#tlsOptions(target), agent: false } : { agent: this.#agent(target) }),
        host: target.address.host,
        port: target.address.port,
        servername: target.serverName,
        method,
        path: query === "" ? path : `${path}?${query}`,
        headers: { host: target.host, ...(request.headers as OutgoingHttpHeaders), ...(body.length > 0 && { "content-length": body.length }) },
        signal,
      });
      outgoing.on("error", (error) =>
        reject(signal.aborted ? signal.reason : new Error(connectionFault(error, target.serverName, target.address), { cause: error })),
      );
      outgoing.on("response", (response) => resolve(answerOf(response, method)));
      outgoing.on("upgrade", (response, socket, head) =>
        resolve({ status: 101, headers: flatten(response.headers), body: { kind: "upgrade", accept: (client) => join(client, { stream: socket, head }) } }),
      );
      outgoing.end(body.length > 0 ? body : undefined);
    });
  }

  #agent(target: ExtensionTarget): https.Agent {
    const key = JSON.stringify([target.address, target.serverName, target.caBundle, target.isInsecure]);
    const agent = this.#agents.get(key) ?? new https.Agent({ keepAlive: true, ...this.#tlsOptions(target) });
    this.#agents.delete(key);
    this.#agents.set(key, agent);
    const [oldest] = this.#agents.keys();
    if (this.#agents.size > keptServers) {
      letGo(this.#agents.get(oldest!)!);
      this.#agents.delete(oldest!);
    }
    return agent;
  }

  #tlsOptions({ caBundle, isInsecure }: ExtensionTarget): https.AgentOptions {
    return {
      ...(this.#client !== undefined && { key: this.#client.key, cert: this.#client.certificate }),
      ...(caBundle !== undefined && { ca: caBundle }),
      ...(isInsecure && { rejectUnauthorized: false }),
    };
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

function answerOf(response: IncomingMessage, method: string): ApiResponse {
  // HTTP/2 clients may not be sent it.
  const { connection: _connection, ...headers } = flatten(response.headers);
  const status = response.statusCode ?? 502;
  if (method !== "HEAD" && status !== 204 && status !== 304)
    return { status, headers, body: { kind: "stream", chunks: response as AsyncIterable<Uint8Array> } };
  response.resume();
  return { status, headers, body: { kind: "bytes", bytes: new Uint8Array() } };
}
