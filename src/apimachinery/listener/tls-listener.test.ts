import "reflect-metadata";
import { after, before, test } from "node:test";
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http2 from "node:http2";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { Certificates } from "../../cluster/certificates/certificates.ts";
import { keyDirectory } from "../../cluster/certificates/key-store.ts";
import { bytesResponse } from "../request.ts";
import type { ApiRequest, ApiResponse } from "../request.ts";
import { listenTls } from "./tls-listener.ts";
import type { TlsListener } from "./tls-listener.ts";

let folder: string;
let serving: { key: string; certificate: string };
let client: { key: string; certificate: string };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "listener-"));
  const certificates = new Certificates(keyDirectory(folder), systemClock());
  [serving, client] = await Promise.all([certificates.serving("test", ["127.0.0.1", "localhost"]), certificates.client("me", "me", ["group"])]);
});
after(() => rm(folder, { recursive: true }));

const maxBodyBytes = 1000;
const open = (handler: (request: ApiRequest) => Promise<ApiResponse>): Promise<TlsListener> =>
  listenTls({ address: "127.0.0.1", port: 0, ...serving, handler, log: silentLog, maxBodyBytes });

/** Tells what came in. */
const echo = (request: ApiRequest): Promise<ApiResponse> => {
  const { method, path, query, headers, body, peer } = request;
  const told = {
    method,
    path,
    query,
    test: headers["x-test"],
    user: headers["impersonate-group"],
    bytes: body.length,
    isHttp2: peer.isHttp2,
    hasCertificate: peer.certificate !== undefined,
  };
  return Promise.resolve(bytesResponse(201, "application/json", JSON.stringify(told), { warning: ["one", "two"] }));
};

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

async function send1(port: number, { path = "/", method = "GET", headers = {}, body = "" }: Sent) {
  const request = https.request({
    host: "127.0.0.1",
    port,
    path,
    method,
    headers,
    rejectUnauthorized: false,
    agent: false,
    key: client.key,
    cert: client.certificate,
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headersDistinct, text: Buffer.concat(chunks).toString() };
}

async function send2(port: number, { path = "/", method = "GET", headers = {}, body = "" }: Sent) {
  const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, key: client.key, cert: client.certificate });
  try {
    const stream = session.request({ ":path": path, ":method": method, ...headers }, { endStream: body === "" });
    if (body !== "") stream.end(body);
    const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return { status: head[":status"], headers: head, text: Buffer.concat(chunks).toString() };
  } finally {
    session.close();
  }
}

for (const [name, send, isHttp2] of [
  ["HTTP/1.1", send1, false],
  ["HTTP/2", send2, true],
] as const) {
  test(`listener: ${name} requests become values`, async () => {
    const listener = await open(echo);
    const answer = await send(listener.port, {
      path: "/a%2Fb?c=d?e",
      method: "POST",
      headers: { "x-test": ["1", "2"], "impersonate-group": ["a, b", "c"].slice(0, 1) },
      body: "hello",
    });
    equal(answer.status, 201);
    const { user: _, ...told } = JSON.parse(answer.text) as Record<string, unknown>;
    deepEqual(told, { method: "POST", path: "/a%2Fb", query: "c=d?e", test: "1, 2", bytes: 5, isHttp2, hasCertificate: true });
    const head = await send(listener.port, { method: "HEAD" });
    deepEqual([head.status, head.text], [201, ""]);
    ok(Number(head.headers["content-length"]) > 0);
    await listener.close();
  });

  test(`listener: ${name} bodies are read up to the limit, and one byte more`, async () => {
    const listener = await open(echo);
    for (const [sent, read] of [
      [0, 0],
      [maxBodyBytes, maxBodyBytes],
      [maxBodyBytes + 1, maxBodyBytes + 1],
      [300_000, maxBodyBytes + 1],
    ] as const) {
      const answer = await send(listener.port, { method: "POST", body: "x".repeat(sent) });
      equal((JSON.parse(answer.text) as { bytes: number }).bytes, read);
    }
    await listener.close();
  });

  test(`listener: ${name} streams arrive piece by piece`, async () => {
    async function* chunks() {
      for (let index = 0; index < 50; index++) yield Buffer.alloc(20_000, String(index % 10));
    }
    const listener = await open(() => Promise.resolve({ status: 200, headers: {}, body: { kind: "stream", chunks: chunks() } }));
    equal((await send(listener.port, {})).text.length, 1_000_000);
    await listener.close();
  });

  test(`listener: ${name} a client that leaves aborts the signal and closes the stream`, async () => {
    const seen: string[] = [];
    const left = Promise.withResolvers<void>();
    const listener = await open(({ signal }) => {
      async function* chunks() {
        try {
          yield Buffer.from("first");
          await once(signal, "abort");
          seen.push((signal.reason as Error).message);
        } finally {
          seen.push("closed");
          left.resolve();
        }
      }
      return Promise.resolve({ status: 200, headers: {}, body: { kind: "stream", chunks: chunks() } });
    });
    if (isHttp2) {
      const session = http2.connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
      const stream = session.request({ ":path": "/" });
      await once(stream, "data");
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await left.promise;
      session.close();
    } else {
      const request = https.get({ host: "127.0.0.1", port: listener.port, rejectUnauthorized: false, agent: false });
      const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
      await once(response, "data");
      request.destroy();
      await left.promise;
    }
    deepEqual(seen, ["the client left", "closed"]);
    await listener.close();
  });
}

/** Sends bytes as they are and returns all that comes until the server closes. */
async function raw(port: number, text: string): Promise<string> {
  const socket = tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const upgrade = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

test("listener: an upgrade that is refused gets an ordinary answer", async () => {
  const listener = await open(() => Promise.resolve(bytesResponse(403, "text/plain", "no")));
  match(await raw(listener.port, upgrade), /^HTTP\/1\.1 403 Forbidden\r\n(.*\r\n)*\r\nno$/);
  await listener.close();
});

test("listener: an upgrade hands over the connection with what was sent along", async () => {
  const listener = await open(() =>
    Promise.resolve({
      status: 101,
      headers: { upgrade: "websocket", connection: "Upgrade" },
      body: {
        kind: "upgrade",
        async accept({ stream, head }) {
          stream.end(`got ${Buffer.from(head).toString()}`);
        },
      },
    }),
  );
  match(await raw(listener.port, `${upgrade}early`), /^HTTP\/1\.1 101 Switching Protocols\r\n(.*\r\n)*\r\ngot early$/);
  // Who asked for no upgrade cannot be given one.
  for (const send of [send1, send2]) equal((await send(listener.port, {})).status, 400);
  await listener.close();
});

test("listener: methods that nobody knows reach the handler, nonsense does not", async () => {
  const listener = await open(echo);
  match(
    await raw(listener.port, "BREW /a?b HTTP/1.1\r\nHost: a\r\nX-Test: 1\r\n\r\n"),
    /^HTTP\/1\.1 201 Created\r\n(.*\r\n)*\r\n\{"method":"BREW","path":"\/a","query":"b","test":"1"/,
  );
  match(await raw(listener.port, "nonsense\r\n\r\n"), /^HTTP\/1\.1 400 Bad Request\r\n/);
  await listener.close();
});

test("listener: a port that is taken is told; closing ends what is open", async () => {
  const asked = Promise.withResolvers<void>();
  const listener = await open(async ({ signal }) => {
    asked.resolve();
    await once(signal, "abort");
    return bytesResponse(200, "text/plain", "");
  });
  await rejects(listenTls({ address: "127.0.0.1", port: listener.port, ...serving, handler: echo, log: silentLog, maxBodyBytes }), { code: "EADDRINUSE" });
  const answer = raw(listener.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").catch(() => "");
  await asked.promise;
  await listener.close();
  equal(await answer, "");
});
