import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import http2 from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../base/clock.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keyDirectory } from "../certificates/key-store.ts";
import { WebhookConnections } from "./webhook-connections.ts";

test("webhooks are reached over HTTP/2, services over HTTP/1.1, and failures are told in Kubernetes' words", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "webhook-connections-"));
  const certificates = new Certificates(keyDirectory(folder), systemClock());
  const caBundle = await certificates.authority();
  const { key, certificate } = await certificates.serving("hook", ["127.0.0.1", "hook.ns.svc"]);
  const server = http2.createSecureServer({ key, cert: certificate, allowHTTP1: true }, (request, response) => {
    if (request.url === "/long") response.end(Buffer.alloc(17 * 1024 * 1024, 32));
    else if (request.url === "/stops") {
      response.writeHead(200, { "content-length": "100" });
      response.write("{");
      setImmediate(() =>
        request.httpVersionMajor === 2
          ? (response as unknown as { stream: { close(code: number): void } }).stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
          : request.socket.destroy(),
      );
    } else if (request.url === "/moved") response.writeHead(302, { location: "/" }).end();
    else if (request.url !== "/hangs") response.end(`${request.httpVersion} ${request.headers["host"] ?? request.headers[":authority"]} ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const connections = new WebhookConnections();
  context.after(async () => {
    await connections.close();
    server.close();
    await rm(folder, { recursive: true });
  });
  const never = new AbortController().signal;
  const post = async (target: Parameters<WebhookConnections["post"]>[0], signal = never) => {
    const { status, body } = await connections.post(target, Buffer.from("{}"), signal);
    return `${status} ${Buffer.from(body).toString()}`;
  };
  const url = `https://127.0.0.1:${port}`;
  assert.equal(await post({ url: `${url}/a?timeout=1s`, caBundle }), `200 2.0 127.0.0.1:${port} /a?timeout=1s`);
  assert.equal(await post({ url: `${url}/moved`, caBundle }), "302 ");
  assert.equal(await post({ url: "https://hook.ns.svc:443/b", address: { host: "127.0.0.1", port }, caBundle }), "200 1.1 hook.ns.svc:443 /b");
  // The server's own certificate may stand for its authority.
  assert.equal(await post({ url: `${url}/own`, caBundle: certificate }), `200 2.0 127.0.0.1:${port} /own`);
  assert.equal(await post({ url: "https://hook.ns.svc/own", address: { host: "127.0.0.1", port }, caBundle: certificate }), "200 1.1 hook.ns.svc /own");
  await assert.rejects(post({ url }), { message: "tls: failed to verify certificate: x509: certificate signed by unknown authority" });
  await assert.rejects(post({ url: "https://other.ns.svc/", address: { host: "127.0.0.1", port }, caBundle }), {
    message: "tls: failed to verify certificate: x509: certificate is valid for hook.ns.svc, not other.ns.svc",
  });
  await assert.rejects(post({ url: "https://127.0.0.1:1/" }), { message: "dial tcp 127.0.0.1:1: connect: connection refused" });
  for (const address of [undefined, { host: "127.0.0.1", port }]) {
    const at = address === undefined ? { caBundle } : { caBundle, address };
    const host = address === undefined ? url : "https://hook.ns.svc:443";
    await assert.rejects(post({ url: `${host}/long`, ...at }), { message: "the answer is longer than 16777216 bytes" });
    await assert.rejects(post({ url: `${host}/stops`, ...at }), {
      message: address === undefined ? "Stream closed with error code NGHTTP2_INTERNAL_ERROR" : "unexpected EOF",
    });
    assert.equal(
      await post({ url: `${host}/a`, ...at }),
      `200 ${address === undefined ? "2.0" : "1.1"} ${new URL(host).host || "hook.ns.svc"}${address === undefined ? "" : ":443"} /a`,
      "the next one is answered again",
    );
  }
  const left = new AbortController();
  const pending = post({ url: `${url}/hangs`, caBundle }, left.signal);
  left.abort(new Error("left"));
  await assert.rejects(pending, { message: "left" });
});
