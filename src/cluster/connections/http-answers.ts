/** Answers of servers behind this one, and connections that were handed over. */
import type { IncomingHttpHeaders } from "node:http";
import type { Agent } from "node:https";
import type { Duplex } from "node:stream";
import type { UpgradedConnection } from "../../apimachinery/request.ts";

const hopByHop = new Set(["transfer-encoding", "content-length", "keep-alive", "date"]);

/** Headers without those that concern one connection. */
export function flatten(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const flat: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined && !hopByHop.has(name)) flat[name] = value;
  return flat;
}

/** Copies bytes both ways until both ends are done. */
export async function join(client: UpgradedConnection, node: { readonly stream: Duplex; readonly head: Buffer }): Promise<void> {
  if (node.head.length > 0) client.stream.write(node.head);
  if (client.head.length > 0) node.stream.write(client.head);
  await new Promise<void>((resolve) => {
    let isDone = false;
    const finish = () => {
      if (isDone) return;
      isDone = true;
      client.stream.destroy();
      node.stream.destroy();
      resolve();
    };
    client.stream.on("close", finish).on("error", finish);
    node.stream.on("close", finish).on("error", finish);
    client.stream.pipe(node.stream);
    node.stream.pipe(client.stream);
  });
}

/** Closes an agent's idle connections; the others close with the requests that they carry. */
export function letGo(agent: Agent & { keepAlive?: boolean }): void {
  agent.keepAlive = false;
  for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
}
