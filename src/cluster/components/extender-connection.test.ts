import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deepEqual, rejects } from "node:assert/strict";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../base/clock.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keyDirectory } from "../certificates/key-store.ts";
import { ExtenderConnections } from "./extender-connection.ts";
import type { ExtenderTls } from "../../scheduler/index.ts";

const never = new AbortController().signal;

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === "/hangs") return;
  if (request.url === "/moved") return void response.writeHead(302, { location: "/" }).end();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`));
}

test("extenders are reached over HTTP and TLS, with what the configuration says of certificates", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "extender-connection-"));
  const certificates = new Certificates(keyDirectory(folder), systemClock());
  const ca = await certificates.authority();
  const { key, certificate } = await certificates.serving("extender", ["extender.test"]);
  const plain = http.createServer(echo);
  const secure = https.createServer({ key, cert: certificate }, echo);
  const [plainPort, securePort] = [await portOf(plain), await portOf(secure)];
  const connections = new ExtenderConnections();
  context.after(async () => {
    await connections.close();
    plain.closeAllConnections();
    plain.close();
    secure.close();
    await rm(folder, { recursive: true });
  });
  const post = async (url: string, tls?: ExtenderTls, signal = never) => {
    const { status, body } = await connections.post({ url, body: Buffer.from("{}"), tls }, signal);
    return [status, Buffer.from(body).toString()];
  };
  deepEqual(await post(`http://127.0.0.1:${plainPort}/filter`), [200, "POST /filter {}"]);
  deepEqual(await post(`http://127.0.0.1:${plainPort}/moved`), [302, ""]);
  const url = `https://127.0.0.1:${securePort}/filter`;
  const caData = Buffer.from(ca).toString("base64");
  deepEqual(await post(url, { caData, serverName: "extender.test" }), [200, "POST /filter {}"]);
  deepEqual(await post(url, { insecure: true }), [200, "POST /filter {}"]);
  await rejects(post(url, { serverName: "extender.test" }), /certificate/);
  await rejects(post(url, { caData, serverName: "other.test" }), /other\.test/);
  const stop = new AbortController();
  const hanging = post(`http://127.0.0.1:${plainPort}/hangs`, undefined, stop.signal);
  stop.abort(new Error("enough"));
  await rejects(hanging, { message: "enough" });
});
