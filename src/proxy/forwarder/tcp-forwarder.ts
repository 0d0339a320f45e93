import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import type { Backend } from "../backends.ts";
import type { BackendChooser } from "./choose-backend.ts";

/** Listens for TCP and joins each connection with one to a backend. Rejects when it may not listen there. */
export function listenTcp(place: { address: string; port: number }, chooser: BackendChooser): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    track(client);
    const address = client.remoteAddress ?? "";
    joinToFirst(client, chooser.orderFor(address), (backend, upstream) => {
      track(upstream);
      chooser.remember(address, backend);
    });
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(place.port, place.address, () => resolve({ close: () => close(server, sockets) }));
  });
}

/** Tries one backend after the other until one accepts; without any the client is reset, as a refused connection would be. */
function joinToFirst(client: Socket, backends: readonly Backend[], onJoined: (backend: Backend, upstream: Socket) => void): void {
  const [backend, ...rest] = backends;
  client.removeAllListeners("error").on("error", () => client.destroy());
  if (backend === undefined || client.destroyed) return void client.resetAndDestroy();
  const upstream = connect({ host: backend.address, port: backend.port, allowHalfOpen: true });
  const onRefused = () => joinToFirst(client, rest, onJoined);
  upstream.once("error", onRefused);
  upstream.once("connect", () => {
    upstream.off("error", onRefused).on("error", () => client.resetAndDestroy());
    client.removeAllListeners("error").on("error", () => upstream.resetAndDestroy());
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
    onJoined(backend, upstream);
    client.pipe(upstream);
    upstream.pipe(client);
  });
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}
