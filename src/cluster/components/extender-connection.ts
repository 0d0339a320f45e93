/** Posts to the scheduler's extenders, over HTTP or TLS; connections are kept. */
import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import type { ExtenderPost, ExtenderRequest, ExtenderTls } from "../../scheduler/index.ts";

export class ExtenderConnections {
  readonly #plain = new http.Agent({ keepAlive: true });
  /** By TLS configuration, which is the configuration's own object. */
  readonly #secure = new Map<ExtenderTls | undefined, Promise<https.Agent>>();

  readonly post: ExtenderPost = async ({ url, body, tls }, signal) => {
    signal.throwIfAborted();
    const isSecure = url.startsWith("https:");
    const agent = isSecure ? await this.#agentFor(tls) : this.#plain;
    try {
      return await post({ url, body, tls }, agent, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new Error(`Post ${JSON.stringify(url)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  };

  async close(): Promise<void> {
    this.#plain.destroy();
    for (const agent of this.#secure.values()) (await agent.catch(() => undefined))?.destroy();
  }

  #agentFor(tls: ExtenderTls | undefined): Promise<https.Agent> {
    let agent = this.#secure.get(tls);
    if (agent === undefined) this.#secure.set(tls, (agent = agentOf(tls ?? {})));
    return agent;
  }
}

const mostBytes = 16 * 1024 * 1024;

async function agentOf({ insecure, serverName, ...rest }: ExtenderTls): Promise<https.Agent> {
  const [ca, cert, key] = await Promise.all([material(rest.caData, rest.caFile), material(rest.certData, rest.certFile), material(rest.keyData, rest.keyFile)]);
  return new https.Agent({
    keepAlive: true,
    rejectUnauthorized: insecure !== true,
    ...(serverName !== undefined && serverName !== "" && { servername: serverName }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  });
}

/** What the configuration holds itself goes before the file that it names. */
async function material(data: string | undefined, file: string | undefined): Promise<Buffer | undefined> {
  if (data !== undefined && data !== "") return Buffer.from(data, "base64");
  return file === undefined || file === "" ? undefined : readFile(file);
}

function post({ url, body }: ExtenderRequest, agent: http.Agent, signal: AbortSignal): Promise<{ status: number; body: Uint8Array }> {
  const request = url.startsWith("https:") ? https.request : http.request;
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent, signal }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostBytes) sent.destroy(new Error("the answer is too large"));
        else chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
