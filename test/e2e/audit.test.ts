/** The audit of a server that is ended in the middle of its work: every answered request is in the log once, and at the webhook once. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import https from "node:https";
import path from "node:path";
import { test } from "node:test";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../src/base/clock.ts";
import { Certificates } from "../../src/cluster/certificates/certificates.ts";
import { keysInMemory } from "../../src/cluster/certificates/key-store.ts";
import { Instance } from "./instance.ts";

interface Event {
  readonly auditID: string;
  readonly stage: string;
}

test("nothing that was answered is missing in the audit, and nothing is there twice, when the server is ended", async (context) => {
  const instance = await Instance.create();
  const folder = path.dirname(instance.dataDir);
  const received: Event[] = [];
  const certificates = new Certificates(keysInMemory(), systemClock());
  const { key, certificate } = await certificates.serving("audit", ["127.0.0.1"]);
  const webhook = https.createServer({ key, cert: certificate }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push(...(JSON.parse(Buffer.concat(chunks).toString()) as { items: Event[] }).items);
    response.end("{}");
  });
  await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve));
  context.after(async () => {
    webhook.close();
    await instance[Symbol.asyncDispose]();
  });
  const file = (name: string) => path.join(folder, name);
  const cluster = {
    server: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/audit`,
    "certificate-authority-data": Buffer.from(await certificates.authority()).toString("base64"),
  };
  const kubeconfig = { clusters: [{ name: "a", cluster }], contexts: [{ name: "a", context: { cluster: "a" } }], "current-context": "a" };
  const rules = [{ level: "Metadata", users: ["auditee"] }, { level: "None" }];
  await writeFile(file("webhook"), JSON.stringify(kubeconfig));
  await writeFile(file("policy"), JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  await writeFile(file("tokens"), "auditee-token,auditee,a1,system:masters\n");
  const flags = { "audit-policy-file": "policy", "audit-webhook-config-file": "webhook", "audit-log-path": "log", "token-auth-file": "tokens" };
  const server = await instance.start({
    args: [
      "--components=apiserver",
      "--store=memory",
      "--port=16471",
      "--no-install",
      // As the webhook has it: batches that wait.
      "--apiserver.audit-log-mode=batch",
      ...Object.entries(flags).map(([flag, name]) => `--apiserver.${flag}=${file(name)}`),
    ],
  });
  const ca = await readFile(path.join(instance.dataDir, "pki", "ca.crt"));
  const agent = new https.Agent({ ca, keepAlive: true, maxSockets: 16 });
  const answered: string[] = [];
  const ask = (number: number) =>
    new Promise<boolean>((resolve) => {
      const body = JSON.stringify({ metadata: { name: `c${number}` } });
      const headers = { authorization: "Bearer auditee-token", "content-type": "application/json" };
      const request = https.request(
        { host: "127.0.0.1", port: 16471, agent, method: "POST", path: "/api/v1/namespaces/default/configmaps", headers },
        (response) => {
          response.resume().once("end", () => {
            // (A server that is ending turns away what comes, before any audit.)
            const isTaken = response.statusCode !== 429;
            if (isTaken) answered.push(response.headers["audit-id"] as string);
            resolve(isTaken);
          });
          response.once("error", () => resolve(false));
        },
      );
      request.once("error", () => resolve(false));
      request.end(body);
    });
  let next = 0;
  const client = async () => {
    while (await ask(next++)) if (answered.length === 300) void instance.end(server, "SIGTERM");
  };
  await Promise.all(Array.from({ length: 16 }, client));
  await instance.end(server, "SIGTERM");
  agent.destroy();
  assert.ok(answered.length >= 300);
  const logged = (await readFile(file("log"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
  for (const [where, events] of [["log", logged] as const, ["webhook", received] as const]) {
    const keys = events.map(({ auditID, stage }) => `${auditID} ${stage}`);
    assert.equal(new Set(keys).size, keys.length, `${where}: nothing twice`);
    const told = new Set(keys);
    assert.deepEqual(
      answered.filter((id) => !told.has(`${id} ResponseComplete`) || !told.has(`${id} RequestReceived`)),
      [],
      `${where}: nothing missing of ${answered.length}`,
    );
  }
});
