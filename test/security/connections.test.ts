/** Classes of past mistakes with connections: slow clients, rapid resets, upgrades that fail, certificates of nodes. */
import "reflect-metadata";
import { test } from "node:test";
import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import type { ApiRequest, ApiResponse } from "../../src/apimachinery/request.ts";
import { bytesResponse } from "../../src/apimachinery/request.ts";
import { listenTls } from "../../src/apimachinery/listener/tls-listener.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { Certificates } from "../../src/cluster/certificates/certificates.ts";
import { keyDirectory } from "../../src/cluster/certificates/key-store.ts";
import { NodeDialer } from "../../src/cluster/connections/node-dialer.ts";
import { WebhookConnections } from "../../src/cluster/connections/webhook-connections.ts";

async function authority() {
  const folder = await mkdtemp(join(tmpdir(), "coracle-security-"));
  return { certificates: new Certificates(keyDirectory(folder), systemClock()), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

const request = (path: string, headers: Record<string, string> = {}): Omit<ApiRequest, "peer"> => ({
  method: "GET",
  path,
  query: "",
  headers,
  body: new Uint8Array(),
  signal: new AbortController().signal,
});

test("security: a client that does not finish its request is not waited for", async () => {
  await using made = await authority();
  const handled: ApiRequest[] = [];
  const handler = (given: ApiRequest): Promise<ApiResponse> => (handled.push(given), Promise.resolve(bytesResponse(200, "text/plain", "ok")));
  const listener = await listenTls({
    address: "127.0.0.1",
    port: 0,
    ...(await made.certificates.serving("s", ["127.0.0.1"])),
    handler,
    log: silentLog,
    maxBodyBytes: 1000,
    requestLimitMs: 200,
  });
  try {
    for (const start of ["GET / HTTP/1.1\r\nhost: a\r\nx-slow", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf"]) {
      const socket = tls.connect({ host: "127.0.0.1", port: listener.port, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
      await once(socket, "secureConnect");
      socket.on("error", () => {}).resume();
      socket.write(start);
      await once(socket, "close");
    }
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
    const stream = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    stream.on("error", () => {});
    stream.write("half");
    await once(stream, "close");
    session.destroy();
    equal(handled.length, 0);
  } finally {
    await listener.close();
  }
});

test("security: a client that opens and resets streams without end is sent away", async () => {
  await using made = await authority();
  const listener = await listenTls({
    address: "127.0.0.1",
    port: 0,
    ...(await made.certificates.serving("s", ["127.0.0.1"])),
    handler: () => new Promise<ApiResponse>(() => {}),
    log: silentLog,
    maxBodyBytes: 1000,
    resetBurst: 500,
  });
  const session = http2.connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  try {
    const away = once(session, "goaway");
    await once(session, "remoteSettings");
    let opened = 0;
    const flood = () => {
      for (let count = 0; count < 100 && !session.closed && !session.destroyed && opened < 100_000; count++, opened++) {
        const stream = session.request({ ":path": "/" });
        stream.on("error", () => {});
        stream.close(http2.constants.NGHTTP2_CANCEL);
      }
      if (!session.closed && !session.destroyed && opened < 100_000) setImmediate(flood);
    };
    flood();
    const [code] = (await away) as [number];
    notEqual(code, http2.constants.NGHTTP2_NO_ERROR);
    ok(opened < 100_000);
  } finally {
    session.destroy();
    await listener.close();
  }
});

test("security: an upgrade that the other side refuses leaves no connection to speak through", async () => {
  await using made = await authority();
  const heard: Buffer[] = [];
  const server = http.createServer((_request, response) => response.writeHead(403).end("no"));
  server.on("connection", (socket) => socket.on("data", (data: Buffer) => heard.push(data)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const dialer = new NodeDialer(await made.certificates.client("c", "c", []), await made.certificates.authority(), systemClock());
  try {
    const answer = await dialer.forward(
      { scheme: "http", address: "127.0.0.1", port: (server.address() as AddressInfo).port, isNode: false },
      request("/", { connection: "upgrade", upgrade: "websocket" }),
    );
    equal(answer.status, 403);
    equal(answer.body.kind, "stream", "there is nothing to write into");
    if (answer.body.kind === "stream") for await (const _ of answer.body.chunks);
    equal(
      Buffer.concat(heard)
        .toString()
        .match(/HTTP\/1\.1/g)?.length,
      1,
    );
  } finally {
    await dialer.close();
    server.closeAllConnections();
    server.close();
  }
});

test("security: a redirect of a kubelet is an answer, and its certificate must be of the cluster's authority", async () => {
  await using own = await authority();
  await using other = await authority();
  let requests = 0;
  const serve = async (made: Awaited<ReturnType<typeof authority>>) => {
    const { key, certificate } = await made.certificates.serving("kubelet", ["127.0.0.1"]);
    const server = https.createServer({ key, cert: certificate }, ({ url }, response) => {
      requests += 1;
      response.writeHead(url === "/elsewhere" ? 200 : 302, { location: "/elsewhere" }).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
  };
  const [good, bad] = [await serve(own), await serve(other)];
  const dialer = new NodeDialer(await own.certificates.client("c", "c", []), await own.certificates.authority(), systemClock());
  const send = (server: https.Server) =>
    dialer.send({ node: "n", address: "127.0.0.1", port: (server.address() as AddressInfo).port }, request("/containerLogs/a/b/c"));
  try {
    const answer = await send(good);
    equal(answer.status, 302);
    if (answer.body.kind === "stream") for await (const _ of answer.body.chunks);
    equal(requests, 1);
    await rejects(send(bad), /self-signed certificate|unable to verify/i);
    equal(requests, 1);
  } finally {
    await dialer.close();
    for (const server of [good, bad]) {
      server.closeAllConnections();
      server.close();
    }
  }
});

test("security: a redirect of a webhook is an answer, over HTTP/2 and HTTP/1.1", async () => {
  await using made = await authority();
  const { key, certificate } = await made.certificates.serving("hook", ["127.0.0.1", "hook.ns.svc"]);
  const heard: string[] = [];
  const server = http2.createSecureServer({ key, cert: certificate, allowHTTP1: true }, (incoming, response) => {
    heard.push(`${incoming.httpVersion} ${incoming.url}`);
    response.writeHead(incoming.url === "/elsewhere" ? 200 : 307, { location: "/elsewhere" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connections = new WebhookConnections();
  const caBundle = await made.certificates.authority();
  const post = async (target: Parameters<WebhookConnections["post"]>[0]) =>
    (await connections.post(target, Buffer.from("{}"), new AbortController().signal)).status;
  try {
    equal(await post({ url: `https://127.0.0.1:${port}/hook`, caBundle }), 307);
    equal(await post({ url: "https://hook.ns.svc:443/hook", address: { host: "127.0.0.1", port }, caBundle }), 307);
    deepEqual(heard, ["2.0 /hook", "1.1 /hook"]);
  } finally {
    await connections.close();
    server.close();
  }
});
