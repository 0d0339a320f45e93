/** Port-forward: SPDY frames inside a WebSocket (what kubectl does), plain channels of a WebSocket, or SPDY itself. */
import { bytesResponse } from "../../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../../apimachinery/request.ts";
import type { Clock } from "../../../base/clock.ts";
import type { PortForwardSession, RuntimeService } from "../../runtime/cri.ts";
import { serveForwardStreams } from "./port-forward-streams.ts";
import { SpdyServer } from "./spdy-server.ts";
import { acceptSpdy, isSpdyRequest } from "./spdy-upgrade.ts";
import { acceptWebSocket, isWebSocketRequest } from "./websocket.ts";
import type { WebSocketConnection } from "./websocket.ts";

export interface PortForwardCall {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly sandboxId: string;
  readonly runtime: RuntimeService;
  readonly clock: Clock;
}

export function servePortForward(call: PortForwardCall): ApiResponse {
  const { request, query } = call;
  if (!isWebSocketRequest(request)) {
    return isSpdyRequest(request) ? acceptSpdy(request, spdyOffer, (server) => serveForwardStreams(server, call)) : plain(500, "Upgrade request required\n");
  }
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  if (offered.includes(tunnelProtocol)) {
    return acceptWebSocket(request, [tunnelProtocol], (connection) => runTunnel(connection, call));
  }
  const ports = readPorts(query);
  if (typeof ports === "string") return plain(400, ports);
  return acceptWebSocket(request, ["v4.channel.k8s.io", "v4.base64.channel.k8s.io", ""], (connection, protocol) =>
    runChannels(connection, protocol.includes("base64"), ports, call),
  );
}

export function portForwardError(port: number, sandboxId: string, text: string): string {
  return `error forwarding port ${port} to pod ${sandboxId}, uid : ${text}`;
}

const tunnelProtocol = "SPDY/3.1+portforward.k8s.io";
const spdyOffer = { protocols: ["portforward.k8s.io"], whenNone: { status: 500, text: "invalid upgrade response: status code 200\n" }, refusalTimes: 1 };

function plain(status: number, text: string): ApiResponse {
  return bytesResponse(status, "text/plain; charset=utf-8", text);
}

async function runTunnel(connection: WebSocketConnection, call: PortForwardCall): Promise<void> {
  const server = new SpdyServer((bytes) => connection.send(bytes));
  const serving = serveForwardStreams(server, call);
  for await (const { isBinary, data } of connection.messages) {
    // Text means a client that does not speak the tunnel.
    if (!isBinary) break;
    server.receive(data);
  }
  server.end();
  await connection.close();
  await serving;
}

function readPorts(query: URLSearchParams): number[] | string {
  const texts = query.getAll("port").flatMap((text) => text.split(","));
  if (texts.length === 0) return 'query parameter "port" is required';
  const ports: number[] = [];
  for (const text of texts) {
    if (!/^\d+$/.test(text)) return `unable to parse ${JSON.stringify(text)} as a port: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
    if (Number(text) < 1 || Number(text) > 65_535) return `port ${JSON.stringify(text)} must be > 0`;
    ports.push(Number(text));
  }
  return ports;
}

/** Port number i has channel 2i for data and 2i+1 for errors; the first message of each is the port, two bytes, low byte first. */
async function runChannels(connection: WebSocketConnection, isBase64: boolean, ports: readonly number[], call: PortForwardCall): Promise<void> {
  const send = (channel: number, data: Uint8Array) =>
    connection.send(isBase64 ? `${channel}${Buffer.from(data).toString("base64")}` : Buffer.concat([Buffer.from([channel]), data]));
  for (const [index, port] of ports.entries()) {
    const head = Buffer.alloc(2);
    head.writeUInt16LE(port);
    await send(2 * index, head);
    await send(2 * index + 1, head);
  }
  const sessions: (PortForwardSession | undefined)[] = [];
  const forwards = ports.map(async (port, index) => {
    try {
      const session = await call.runtime.openPortForward(call.sandboxId, port);
      sessions[index] = session;
      for await (const chunk of session.output) await send(2 * index, chunk);
      const { error } = await session.done;
      if (error !== undefined) await send(2 * index + 1, Buffer.from(error));
    } catch (error) {
      await send(2 * index + 1, Buffer.from(portForwardError(port, call.sandboxId, error instanceof Error ? error.message : String(error))));
    }
  });
  const reading = (async () => {
    for await (const { data } of connection.messages) {
      const channel = isBase64 ? data[0]! - 48 : data[0]!;
      const payload = isBase64 ? Buffer.from(data.toString("latin1", 1), "base64") : data.subarray(1);
      if (channel % 2 === 0 && payload.length > 0) await sessions[channel / 2]?.write(payload);
    }
    for (const session of sessions) session?.close();
  })();
  await Promise.all(forwards);
  await connection.close();
  await reading;
}
