import { createSocket } from "node:dgram";
import type { RemoteInfo, Socket } from "node:dgram";
import type { Clock } from "../../base/clock.ts";
import type { BackendChooser } from "./choose-backend.ts";

/** A client's flow is forgotten after this time without a datagram (as conntrack's default for streams). */
const idleMs = 120_000;
/** Beyond this the oldest flow gives way. */
const maxFlows = 4_096;

interface Flow {
  readonly socket: Socket;
  lastMs: number;
  cancel: () => void;
}

/** Listens for UDP; every client address and port has a flow with a socket of its own to one backend. Rejects when it may not listen there. */
export function listenUdp(place: { address: string; port: number }, chooser: BackendChooser, clock: Clock): Promise<{ close(): Promise<void> }> {
  const server = createSocket("udp4");
  const flows = new Map<string, Flow>();
  const end = (key: string) => {
    const flow = flows.get(key);
    flows.delete(key);
    flow?.cancel();
    flow?.socket.close();
  };
  const watch = (key: string, flow: Flow) => {
    flow.cancel = clock.after(idleMs, () => (clock.monotonicMs() - flow.lastMs >= idleMs ? end(key) : watch(key, flow)));
  };
  const open = (key: string, client: RemoteInfo): Flow | undefined => {
    const [backend] = chooser.orderFor(client.address);
    if (backend === undefined) return undefined;
    chooser.remember(client.address, backend);
    if (flows.size >= maxFlows) end(flows.keys().next().value!);
    const flow: Flow = { socket: createSocket("udp4"), lastMs: clock.monotonicMs(), cancel: () => {} };
    flow.socket.on("error", () => flows.get(key) === flow && end(key));
    flow.socket.on("message", (data) => server.send(data, client.port, client.address));
    flow.socket.connect(backend.port, backend.address);
    flows.set(key, flow);
    watch(key, flow);
    return flow;
  };
  server.on("message", (data, client) => {
    const key = `${client.address} ${client.port}`;
    const known = flows.get(key);
    const flow = known ?? open(key, client);
    if (flow === undefined) return;
    flow.lastMs = clock.monotonicMs();
    if (known !== undefined) flow.socket.send(data, ignoreError);
    else flow.socket.once("connect", () => flow.socket.send(data, ignoreError));
  });
  const close = () => {
    for (const key of flows.keys()) end(key);
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.bind(place.port, place.address, () => {
      server.off("error", reject).on("error", ignoreError);
      resolve({ close });
    });
  });
}

/** A datagram may be lost; whoever sent it will send it again. */
function ignoreError(): void {}
