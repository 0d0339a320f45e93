/** The program in a database's pods: an agent that runs PostgreSQL as it is told over HTTP. */
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { agentPort, postgresPort } from "../agent.ts";
import type { Order } from "../agent.ts";
import { bin } from "./commands.ts";
import { PostgresServer } from "./server.ts";

const { POD_NAME = "", POD_IP = "", CORACLE_ROOT = "/", BACKUPS, SUPERUSER_PASSWORD = "", REPLICATION_PASSWORD = "" } = process.env;
const folder = path.join(CORACLE_ROOT, "var/lib/mydb");
mkdirSync(folder, { recursive: true });
if (!existsSync(path.join(bin, "postgres"))) throw new Error(`There is no PostgreSQL in ${bin}.`);
const server = new PostgresServer({
  name: POD_NAME,
  address: POD_IP,
  port: postgresPort,
  folder,
  backups: BACKUPS ?? path.join(folder, "backups"),
  superuserPassword: SUPERUSER_PASSWORD,
  replicationPassword: REPLICATION_PASSWORD,
});
await server.open();
// One at a time: an order that is taken is on disk before the next question is answered.
let last: Promise<unknown> = Promise.resolve();
const listener = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://agent");
  const at = Number(url.searchParams.get("at") ?? 0);
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    last = last.then(async () => {
      try {
        if (url.pathname === "/state") response.end(JSON.stringify(await server.state(at)));
        else if (url.pathname === "/ready") response.writeHead(["primary", "standby"].includes((await server.state(0)).mode) ? 200 : 503).end();
        else if (url.pathname === "/order") {
          await server.obey(JSON.parse(Buffer.concat(chunks).toString()) as Order, at);
          response.writeHead(202).end();
        } else response.writeHead(404).end();
      } catch (error) {
        response.writeHead(409).end(error instanceof Error ? error.message : String(error));
      }
    });
  });
});
listener.listen(agentPort, POD_IP, () => console.log(`${POD_NAME} waits for orders on ${POD_IP}:${agentPort}`));
process.once("SIGTERM", () => {
  listener.close();
  listener.closeAllConnections();
  void server.close().then(() => process.exit(0));
});
