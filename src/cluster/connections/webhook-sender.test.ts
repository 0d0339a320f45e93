import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { AddressInfo } from "node:net";
import { deadline, systemClock } from "../../base/clock.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keyDirectory } from "../certificates/key-store.ts";
import { webhookSender } from "./webhook-sender.ts";

const clock = systemClock();

test("a review is sent with the file's credentials, answers may be packed, and no answer lasts longer than its time", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "webhook-sender-"));
  const certificates = new Certificates(keyDirectory(folder), clock);
  const { key, certificate } = await certificates.serving("hook", ["127.0.0.1"]);
  let trickles = 0;
  const server = https.createServer({ key, cert: certificate }, (request, response) => {
    const word = request.headers["authorization"]!.slice("Bearer ".length);
    const packed = { "content-encoding": "gzip" };
    if (word === "packed") response.writeHead(200, packed).end(gzipSync(`${request.headers["accept-encoding"]} ${request.url}`));
    else if (word === "bomb") response.writeHead(200, packed).end(gzipSync(Buffer.alloc(64 * 1024 * 1024)));
    else if (word === "broken") response.writeHead(200, packed).end("no gzip");
    else if (word === "busy") response.writeHead(429, { "retry-after": "7" }).end();
    else if (word === "moved") response.writeHead(302, { location: "/elsewhere" }).end();
    else if (word === "trickles") {
      // Never silent, never done.
      const drip = () => {
        if (response.destroyed) return;
        trickles++;
        response.write(" ");
        clock.after(10, drip);
      };
      drip();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/review`;
  const authority = Buffer.from(await certificates.authority()).toString("base64");
  const ask = async (token: string, timeoutMs = 30_000) => {
    const path = join(folder, `${token}.kubeconfig`);
    const cluster = { server: url, "certificate-authority-data": authority };
    const named = {
      clusters: [{ name: "a", cluster }],
      users: [{ name: "a", user: { token } }],
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    };
    await writeFile(path, JSON.stringify({ ...named, "current-context": "a" }));
    const { signal, cancel } = deadline(clock, timeoutMs);
    const send = await webhookSender(path);
    const { status, body, retryAfter } = await send(Buffer.from("{}"), { timeoutMs, signal }).finally(cancel);
    return { status, text: Buffer.from(body).toString(), retryAfter };
  };
  assert.deepEqual(await ask("packed"), { status: 200, text: "gzip /review?timeout=30s", retryAfter: undefined });
  assert.deepEqual(await ask("busy"), { status: 429, text: "", retryAfter: "7" });
  assert.deepEqual(await ask("moved"), { status: 302, text: "", retryAfter: undefined }, "a redirect is not followed");
  await assert.rejects(ask("bomb"), { message: `Post "${url}?timeout=30s": the answer is longer than 1048576 bytes` });
  await assert.rejects(ask("broken"), { message: /^Post .*: incorrect header check$/ });
  await assert.rejects(ask("trickles", 200), {
    message: `Post "${url}?timeout=0.2s": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
  });
  assert.ok(trickles > 2, "it was never silent");
});
