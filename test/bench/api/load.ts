/** A load generator that does little beside what TLS and HTTP/2 ask for: raw sessions, bodies counted and thrown away. */
import http2 from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import type { ConnectionSettings } from "../../../src/client/index.ts";

const lineFeed = 0x0a;

export class Load implements AsyncDisposable {
  readonly #settings: ConnectionSettings;
  readonly #sessions: ClientHttp2Session[] = [];

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** New connections, on which `use` sends. */
  async connect(count: number): Promise<ClientHttp2Session[]> {
    const opened = await Promise.all(Array.from({ length: count }, () => this.#open()));
    this.#sessions.push(...opened);
    return opened;
  }

  #open(): Promise<ClientHttp2Session> {
    const { url, ca, certificate, key } = this.#settings;
    const session = http2.connect(url, { ca: ca as Buffer, cert: certificate as Buffer, key: key as Buffer, settings: { initialWindowSize: 4 << 20 } });
    return new Promise((resolve, reject) => {
      session.once("connect", () => {
        session.setLocalWindowSize(64 << 20);
        resolve(session);
      });
      session.once("error", reject);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.destroy();
  }
}

export interface Answer {
  readonly status: number;
  readonly bytes: number;
}

/** Sends one request and reads its whole answer. */
export function send(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let status = 0;
    let bytes = 0;
    stream.on("response", (head) => (status = head[":status"] ?? 0));
    stream.on("data", (chunk: Buffer) => (bytes += chunk.length));
    stream.on("end", () => resolve({ status, bytes }));
    stream.on("error", reject);
    if (body !== undefined) stream.end(body);
  });
}

/** Opens a watch and calls `onEvents` with the number of frames that came. Resolves when it has begun. */
export function watch(session: ClientHttp2Session, path: string, onEvents: (count: number) => void): Promise<ClientHttp2Stream> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":path": path });
    stream.on("response", () => resolve(stream));
    stream.on("error", reject);
    stream.on("data", (chunk: Buffer) => {
      let count = 0;
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) count++;
      if (count > 0) onEvents(count);
    });
  });
}

/** Does `work` for 0 … `count` - 1, `width` at once. */
export async function inFlight(width: number, count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
