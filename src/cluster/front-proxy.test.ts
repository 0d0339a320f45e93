import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertificateTrust } from "../apiserver/authn/certificate-trust.ts";
import { clientCertificates } from "../apiserver/authn/client-certificates.ts";
import { firstOf } from "../apiserver/authn/authenticator.ts";
import { requestHeaders } from "../apiserver/authn/request-headers.ts";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../base/clock.ts";
import { ask } from "../testing/ask.ts";
import { TestCluster } from "../testing/cluster.ts";
import { Certificates } from "./certificates/certificates.ts";
import { FollowedFile } from "./files/followed-file.ts";
import { keysInMemory } from "./certificates/key-store.ts";

const authority = (clock = systemClock()) => new Certificates(keysInMemory(), clock);

const der = async (certificates: Certificates, name: string, groups: readonly string[] = []) =>
  new Uint8Array(new X509Certificate((await certificates.client(name, name, [...groups])).certificate).raw);
const names = {
  allowedNames: ["front-proxy"],
  username: ["x-remote-user"],
  uid: ["x-remote-uid"],
  group: ["x-remote-group"],
  extraPrefixes: ["x-remote-extra-"],
};
const request = (certificate: Uint8Array | undefined, headers: Record<string, string>) => ({
  method: "GET",
  path: "/",
  query: "",
  headers,
  body: new Uint8Array(),
  peer: { address: "", isHttp2: false, ...(certificate !== undefined && { certificate }) },
  signal: new AbortController().signal,
});
const headers = { "x-remote-user": "jane", "x-remote-uid": "7", "x-remote-group": "a\nb", "x-remote-extra-acme.com%2fproject": "p1\np2" };

test("front proxies: headers count from a proxy of the proxies' own authority, and from nobody else", async () => {
  const [proxies, clients] = [authority(), authority()];
  const clock = systemClock();
  const authenticator = firstOf([
    requestHeaders(new CertificateTrust([await proxies.authority()]), names, clock),
    clientCertificates(new CertificateTrust([await clients.authority()]), clock),
  ]);
  const asked = async (certificate: Uint8Array | undefined, given: Record<string, string> = headers) => authenticator.authenticate(request(certificate, given));
  deepEqual(await asked(await der(proxies, "front-proxy")), {
    user: { username: "jane", uid: "7", groups: ["a", "b", "system:authenticated"], extra: { "acme.com/project": ["p1", "p2"] } },
  });
  const client = await asked(await der(clients, "front-proxy", ["dev"]));
  ok(client !== undefined && "user" in client);
  deepEqual(
    [client.user.username, client.user.groups],
    ["front-proxy", ["dev", "system:authenticated"]],
    "a client of the cluster's authority is who its certificate says",
  );
  ok("rejected" in (await asked(await der(proxies, "another")))!, "another name of the proxies' authority");
  ok("rejected" in (await asked(await der(proxies, "front-proxy"), {}))!, "a proxy that names nobody is nobody");
  equal(await asked(undefined), undefined, "without a certificate headers mean nothing");
  const anyName = requestHeaders(new CertificateTrust([await proxies.authority()]), { ...names, allowedNames: [] }, clock);
  ok("user" in (await anyName.authenticate(request(await der(proxies, "another"), headers)))!);
});

test("authorities are replaced while the server runs: old certificates count no more", async () => {
  const [before, after] = [authority(), authority()];
  const trust = new CertificateTrust([await before.authority()]);
  const x509 = clientCertificates(trust, systemClock());
  const [old, next] = [await der(before, "old"), await der(after, "new")];
  const isUser = async (certificate: Uint8Array) => "user" in (await x509.authenticate(request(certificate, {})))!;
  deepEqual([await isUser(old), await isUser(next)], [true, false]);
  trust.replace([await after.authority()]);
  deepEqual([await isUser(old), await isUser(next)], [false, true]);
});

test("reloads: what is good comes into force, what is not changes nothing and is counted", async () => {
  await using cluster = await TestCluster.start({ flags: { "authorization-mode": "RBAC" } });
  const { reloads } = cluster.serverState;
  const jane = { client: cluster.clientFor({ username: "jane", groups: ["system:authenticated"] }) };
  const mayRead = async () => (await ask(jane, "GET", "/api/v1/nodes")).status;
  equal(await mayRead(), 403);
  reloads.authorization("1", {
    authorizers: [
      { type: "RBAC", name: "rbac" },
      { type: "AlwaysAllow", name: "alwaysallow" },
    ],
  });
  equal(await mayRead(), 200);
  reloads.authorization("2", { authorizers: [] });
  reloads.authorization("3", new Error("cannot be read"));
  equal(await mayRead(), 200);
  reloads.authentication("1", () => ({ anonymous: { enabled: true, conditions: [{ path: "/version" }] } }));
  reloads.authentication("2", () => ({}));
  const metrics = (await ask(cluster, "GET", "/metrics")).text;
  const count = (what: string, status: string) =>
    new RegExp(`apiserver_${what}_config_controller_automatic_reloads_total\\{apiserver_id_hash="sha256:[0-9a-f]{64}",status="${status}"\\} (\\d)`).exec(
      metrics,
    )?.[1];
  deepEqual(
    [count("authorization", "success"), count("authorization", "failure"), count("authentication", "success"), count("authentication", "failure")],
    ["1", "2", "1", "1"],
  );
  equal(metrics.match(/^apiserver_authorization_config_controller_last_config_info\{/gm)?.length, 1);
});

test("a followed file: written anew, replaced, and nothing told twice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coracle-follow-"));
  const path = join(folder, "config");
  writeFileSync(path, "one");
  const contents: string[] = [];
  let arrived = () => {};
  const next = () => new Promise<void>((resolve) => (arrived = resolve));
  try {
    await using _file = new FollowedFile({ path, log: silentLog, content: "one", onContent: (content) => (contents.push(content), arrived()) });
    const second = next();
    writeFileSync(path, "two");
    await second;
    const third = next();
    writeFileSync(join(folder, "new"), "three");
    renameSync(join(folder, "new"), path);
    await third;
    writeFileSync(path, "three");
    const fourth = next();
    writeFileSync(path, "four");
    await fourth;
    deepEqual(contents, ["two", "three", "four"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
