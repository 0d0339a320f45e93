/** Exec and attach: over channels of a WebSocket (subprotocols v5, v4 and plain `channel.k8s.io`, and their base64 forms; KEP 4006), or SPDY. */
import { bytesResponse } from "../../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../../apimachinery/request.ts";
import type { StreamingResult, StreamingSession } from "../../runtime/cri.ts";
import { runCommandStreams } from "./command-streams.ts";
import { acceptSpdy, isSpdyRequest } from "./spdy-upgrade.ts";
import { acceptWebSocket, isWebSocketRequest } from "./websocket.ts";
import type { Message, WebSocketConnection } from "./websocket.ts";

export interface CommandStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** What was asked for; undefined when no stream was. The names are the kubelet's own, and their value is exactly `1`. */
export function readCommandStreams(query: URLSearchParams): CommandStreams | undefined {
  const isOn = (name: string) => query.get(name) === "1";
  const tty = isOn("tty");
  const streams = { stdin: isOn("input"), stdout: isOn("output"), stderr: isOn("error") && !tty, tty };
  return streams.stdin || streams.stdout || isOn("error") ? streams : undefined;
}

export function serveRemoteCommand(request: ApiRequest, streams: CommandStreams, open: () => Promise<StreamingSession>): ApiResponse {
  if (!isWebSocketRequest(request)) {
    if (!isSpdyRequest(request)) return bytesResponse(500, "text/plain; charset=utf-8", "Upgrade request required\n");
    return acceptSpdy(request, spdyOffer, (server, protocol) => runCommandStreams(server, { protocol, streams, open }));
  }
  return acceptWebSocket(request, protocols, (connection, protocol) => runChannels(connection, protocol, streams, open));
}

const spdyOffer = {
  protocols: ["v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"],
  whenNone: { status: 400, text: "unable to upgrade: X-Stream-Protocol-Version is required\n" },
  refusalTimes: 2,
};

const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io", "channel.k8s.io", "base64.channel.k8s.io", ""];

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
const maxPayloadBytes = 32 * 1024 - 1;

async function runChannels(connection: WebSocketConnection, protocol: string, streams: CommandStreams, open: () => Promise<StreamingSession>): Promise<void> {
  const isBase64 = protocol.includes("base64");
  const send = (channel: number, data: Uint8Array) =>
    connection.send(isBase64 ? `${channel}${Buffer.from(data).toString("base64")}` : Buffer.concat([Buffer.from([channel]), data]));
  // Tells the client that the connection stands.
  await send(streams.stdout ? channels.stdout : streams.stderr ? channels.stderr : channels.error, Buffer.alloc(0));
  let result: StreamingResult;
  try {
    const session = await open();
    const reading = readInput(connection, session, { isBase64, hasHalfClose: protocol.startsWith("v5") });
    await Promise.all([forward(session.stdout, channels.stdout, send), forward(session.stderr, channels.stderr, send)]);
    result = await session.done;
    void reading.catch(() => undefined);
    session.close();
  } catch (error) {
    result = { outcome: "failed", message: error instanceof Error ? error.message : String(error) };
  }
  const text = errorText(result, protocol);
  if (text !== "") await send(channels.error, Buffer.from(text));
  await connection.close();
}

async function forward(output: AsyncIterable<Uint8Array>, channel: number, send: (channel: number, data: Uint8Array) => Promise<void>): Promise<void> {
  for await (const chunk of output) {
    for (let at = 0; at < chunk.length; at += maxPayloadBytes) await send(channel, chunk.subarray(at, at + maxPayloadBytes));
  }
}

/** Ends when the client leaves; the program then sees the end of its input but goes on. */
async function readInput(
  connection: WebSocketConnection,
  session: StreamingSession,
  { isBase64, hasHalfClose }: { isBase64: boolean; hasHalfClose: boolean },
): Promise<void> {
  for await (const message of connection.messages) {
    const { channel, data } = splitMessage(message, isBase64);
    if (channel === channels.stdin) await session.write(data);
    else if (channel === channels.resize) resize(session, data);
    else if (channel === channels.close && hasHalfClose && data[0] === channels.stdin) session.endInput();
  }
  session.close();
}

function splitMessage({ data }: Message, isBase64: boolean): { channel: number; data: Buffer } {
  if (data.length === 0) return { channel: -1, data };
  if (!isBase64) return { channel: data[0]!, data: data.subarray(1) };
  return { channel: data[0]! - 48, data: Buffer.from(data.toString("latin1", 1), "base64") };
}

/** A new size of the terminal, as JSON with keys in any case; what is malformed or zero is ignored. */
export function resize(session: StreamingSession, data: Uint8Array): void {
  try {
    const size = JSON.parse(Buffer.from(data).toString("utf8")) as Readonly<Record<string, unknown>>;
    const find = (wanted: string) => Number(Object.entries(size).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? 0);
    const [width, height] = [find("width"), find("height")];
    if (width > 0 && height > 0) session.resize({ width, height });
  } catch {
    // A malformed size is silent, as upstream's.
  }
}

/** What the error channel carries at the end: a Status, or plain text in the oldest protocols. */
export function errorText(result: StreamingResult, protocol: string): string {
  const isOld = !protocol.startsWith("v4") && !protocol.startsWith("v5");
  const isNewest = protocol.startsWith("v5");
  switch (result.outcome) {
    case "success":
      return isOld ? "" : JSON.stringify({ metadata: {}, status: "Success" });
    case "exited": {
      const message = isNewest ? `command terminated with non-zero exit code: command terminated with exit code ${result.exitCode}` : result.message;
      if (isOld) return message;
      return goJson({
        metadata: {},
        status: "Failure",
        message,
        reason: "NonZeroExitCode",
        details: { causes: [{ reason: "ExitCode", message: String(result.exitCode) }] },
      });
    }
    case "failed": {
      const inner = result.message.replace(/^Internal error occurred: /, "");
      const cause = isNewest ? `Internal error occurred: ${inner}` : inner;
      if (isOld) return `Internal error occurred: ${inner}`;
      return goJson({
        metadata: {},
        status: "Failure",
        message: `Internal error occurred: ${cause}`,
        reason: "InternalError",
        details: { causes: [{ message: cause }] },
        code: 500,
      });
    }
  }
}

/** As Go's encoder writes it: safe in HTML. */
function goJson(value: object): string {
  return JSON.stringify(value).replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
