/** The sockets of the DNS server: UDP and TCP at each place it listens. */
import { createSocket } from "node:dgram";
import type { Socket as UdpSocket } from "node:dgram";
import { createServer, isIPv6 } from "node:net";
import type { Socket } from "node:net";
import type { Log } from "../base/log.ts";
import type { Respond } from "./responder.ts";
import { framed } from "./upstream.ts";

export interface DnsListener {
  /** The port in use: the one asked for, or the one the machine chose for 0. */
  readonly port: number;
  close(): Promise<void>;
}

/** A connection without a query for so long is closed (RFC 7766 leaves it to the server). */
const idleMs = 10_000;
const maxConnections = 256;

/** Listens for both transports on one port. Rejects when the place is taken. */
export async function listenDns(place: { address: string; port: number }, respond: Respond, log: Log): Promise<DnsListener> {
  const tcp = await listenTcp(place, respond);
  try {
    const udp = await listenUdp({ ...place, port: tcp.port }, respond, log);
    return { port: tcp.port, close: async () => void (await Promise.all([tcp.close(), udp.close()])) };
  } catch (error) {
    await tcp.close();
    throw error;
  }
}

function listenUdp({ address, port }: { address: string; port: number }, respond: Respond, log: Log): Promise<DnsListener> {
  const socket: UdpSocket = createSocket({ type: isIPv6(address) ? "udp6" : "udp4", recvBufferSize: 1 << 21 });
  const send = (response: Uint8Array, client: { port: number; address: string }) => socket.send(response, client.port, client.address);
  socket.on("message", (message, client) => {
    const response = respond(message, false);
    if (response instanceof Promise) void response.then((bytes) => isOpen && send(bytes, client));
    else if (response !== undefined) send(response, client);
  });
  let isOpen = true;
  const close = () =>
    new Promise<void>((resolve) => {
      isOpen = false;
      socket.close(() => resolve());
    });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(port, address, () => {
      socket.off("error", reject).on("error", (error) => log.warn("The DNS socket failed", { error }));
      resolve({ port: socket.address().port, close });
    });
  });
}

function listenTcp({ address, port }: { address: string; port: number }, respond: Respond): Promise<DnsListener> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setTimeout(idleMs, () => socket.destroy());
    serveConnection(socket, respond);
  });
  server.maxConnections = maxConnections;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      const bound = server.address();
      resolve({ port: typeof bound === "object" && bound !== null ? bound.port : port, close });
    });
  });
}

/** Queries of one connection are answered one after the other. */
function serveConnection(socket: Socket, respond: Respond): void {
  let received = Buffer.alloc(0);
  const answerNext = (): void => {
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return void socket.resume();
    const end = 2 + received.readUInt16BE(0);
    const response = respond(received.subarray(2, end), true);
    received = received.subarray(end);
    if (response === undefined) return void socket.destroy();
    if (response instanceof Promise) return void response.then(write);
    write(response);
  };
  const write = (response: Uint8Array): void => {
    if (socket.destroyed) return;
    socket.write(framed(response), () => answerNext());
  };
  socket.on("data", (chunk: Buffer) => {
    socket.pause();
    received = Buffer.concat([received, chunk]);
    answerNext();
  });
}
