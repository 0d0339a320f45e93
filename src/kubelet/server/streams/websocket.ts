/**
 * The server's side of a WebSocket on a connection that the listener upgrades. The handshake is ours, since its oddities are part of the
 * protocol (recorded in upstream's wire); framing is the `ws` library's.
 */
import { createHash } from "node:crypto";
import WebSocket from "ws";
import type { ApiRequest, ApiResponse, UpgradedConnection } from "../../../apimachinery/request.ts";

export interface Message {
  readonly isBinary: boolean;
  readonly data: Buffer;
}

export interface WebSocketConnection {
  readonly messages: AsyncIterable<Message>;
  /** Resolves when the bytes are on their way. */
  send(data: Uint8Array | string): Promise<void>;
  /** Closes with 1000 and waits for the end. */
  close(): Promise<void>;
}

export function isWebSocketRequest({ headers }: ApiRequest): boolean {
  return (headers["upgrade"] ?? "").toLowerCase() === "websocket" && (headers["connection"] ?? "").toLowerCase().includes("upgrade");
}

/** `protocols`: those served, the preferred first; "" stands for none offered. */
export function acceptWebSocket(
  request: ApiRequest,
  protocols: readonly string[],
  serve: (connection: WebSocketConnection, protocol: string) => Promise<void>,
): ApiResponse {
  if (request.method !== "GET") return refusal(405, "bad method");
  if (request.headers["sec-websocket-version"] !== "13") return refusal(400, "missing or bad WebSocket Version", { "sec-websocket-version": "13" });
  const key = request.headers["sec-websocket-key"];
  if (key === undefined) return refusal(400, "mismatch challenge/response");
  const offered = (request.headers["sec-websocket-protocol"] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const protocol = offered.length === 0 ? "" : protocols.find((name) => name !== "" && offered.includes(name));
  if (protocol === undefined || !protocols.includes(protocol)) return refusal(403, "");
  return {
    status: 101,
    headers: { upgrade: "websocket", connection: "Upgrade", "sec-websocket-accept": acceptKey(key), "sec-websocket-protocol": protocol },
    body: { kind: "upgrade", accept: (upgraded) => serve(openConnection(upgraded), protocol) },
  };
}

function acceptKey(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

function refusal(status: number, text: string, headers: Record<string, string> = {}): ApiResponse {
  return { status, headers: { connection: "close", ...headers }, body: { kind: "bytes", bytes: Buffer.from(text) } };
}

const maxMessageBytes = 32 << 20;
const queueLimitBytes = 1 << 20;

/** What the library's own server calls after its handshake. */
interface Attachable {
  setSocket(
    socket: UpgradedConnection["stream"],
    head: Buffer,
    options: { allowSynchronousEvents: boolean; maxPayload: number; skipUTF8Validation: boolean },
  ): void;
}

/** As the library's own server sets them: pings are answered (kubectl ends a session that is silent for a minute), and a client has time to read all and answer a close. */
const serverOptions = { autoPong: true, closeTimeout: 30_000 };

function openConnection({ stream, head }: UpgradedConnection): WebSocketConnection {
  const socket = new (WebSocket as unknown as new (address: null, protocols: undefined, options: object) => WebSocket)(null, undefined, serverOptions);
  const queue: Message[] = [];
  let queuedBytes = 0;
  let isClosed = false;
  let wake = () => {};
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    queue.push({ data, isBinary });
    queuedBytes += data.length;
    if (queuedBytes > queueLimitBytes) socket.pause();
    wake();
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void closed.then(() => {
    isClosed = true;
    wake();
  });
  socket.on("error", () => undefined); // "close" follows
  (socket as unknown as Attachable).setSocket(stream, Buffer.from(head), {
    allowSynchronousEvents: true,
    maxPayload: maxMessageBytes,
    skipUTF8Validation: true,
  });
  async function* messages(): AsyncGenerator<Message> {
    for (;;) {
      const message = queue.shift();
      if (message !== undefined) {
        queuedBytes -= message.data.length;
        if (socket.isPaused && queuedBytes <= queueLimitBytes) socket.resume();
        yield message;
      } else if (isClosed) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return {
    messages: messages(),
    send: (data) =>
      new Promise((resolve) => {
        if (socket.readyState !== WebSocket.OPEN) return resolve();
        socket.send(data, { binary: typeof data !== "string" }, () => resolve());
      }),
    close: async () => {
      socket.close(1000);
      await closed;
    },
  };
}
