/** Credentials that are forged, over, or another's: one test for each kind. docs/security.md tells which guard each one watches. */
import "reflect-metadata";
import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, sign, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { CertificateTrust } from "../../src/apiserver/authn/certificate-trust.ts";
import { clientCertificates } from "../../src/apiserver/authn/client-certificates.ts";
import { VirtualClock } from "../../src/base/virtual-clock.ts";
import { ask } from "../../src/testing/ask.ts";
import { TestCluster } from "../../src/testing/cluster.ts";
import { core, pod } from "./asking.ts";

const reviewOfOneself = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/** The status of the answer to who shows a token. */
async function shown(cluster: TestCluster, token: string): Promise<number> {
  const { status } = await cluster.handle({
    method: "POST",
    path: reviewOfOneself,
    query: "",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: new Uint8Array(Buffer.from("{}")),
    peer: { address: "192.0.2.1", isHttp2: false },
    signal: new AbortController().signal,
  });
  return status;
}

async function issued(cluster: TestCluster, spec: object = {}): Promise<string> {
  const { json } = await ask(cluster, "POST", `${core}/serviceaccounts/robot/token`, { spec });
  return (json["status"] as { token: string }).token;
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const read = (text: string) => JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;

test("security: no token but the one that was issued", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", `${core}/serviceaccounts`, { metadata: { name: "robot" } });
  const token = await issued(cluster);
  equal(await shown(cluster, token), 201);
  const [head = "", claims = "", signature = ""] = token.split(".");
  const keys = (await ask(cluster, "GET", "/openid/v1/jwks")).json["keys"] as unknown as webcrypto.JsonWebKey[];
  const publicKey = createPublicKey({ key: keys[0] as object, format: "jwk" });
  const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const bySecret = (secret: Buffer | string) => {
    const signed = `${part({ ...read(head), alg: "HS256" })}.${claims}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  };
  const byOwnKey = (members: object) => {
    const signed = `${part({ ...read(head), ...members })}.${claims}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), own.privateKey).toString("base64url")}`;
  };
  const forged: [say: string, token: string][] = [
    ["not signed", `${part({ ...read(head), alg: "none" })}.${claims}.`],
    ["not signed, in another spelling", `${part({ ...read(head), alg: "nOnE" })}.${claims}.`],
    ["the public key as a secret", bySecret(publicKey.export({ type: "spki", format: "pem" }))],
    ["the public key's bytes as a secret", bySecret(publicKey.export({ type: "spki", format: "der" }))],
    ["another's key", byOwnKey({})],
    ["a key that is in the token", byOwnKey({ jwk: own.publicKey.export({ format: "jwk" }) })],
    ["a key at an address", byOwnKey({ jku: "https://127.0.0.1/keys", kid: "../../dev/null" })],
    ["other claims", `${head}.${part({ ...read(claims), sub: "system:serviceaccount:kube-system:x" })}.${signature}`],
    ["more parts", `${token}.x`],
    ["padded", `${token}==`],
    ["letters that are passed over", `${head}.${claims}.${signature.slice(0, 4)}*${signature.slice(4)}`],
    ["for another audience", await issued(cluster, { audiences: ["other"] })],
  ];
  for (const [say, candidate] of forged) equal(await shown(cluster, candidate), 401, say);
});

test("security: a token ends with what it was issued for, and a successor of the same name has no part in it", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", `${core}/serviceaccounts`, { metadata: { name: "robot" } });
  const spec = { serviceAccountName: "robot" };
  const boundTo = (kind: string, name: string) => issued(cluster, { boundObjectRef: { apiVersion: "v1", kind, name } });
  const bound: [kind: string, path: string, body: object][] = [
    ["Pod", `${core}/pods`, pod("bound", spec)],
    ["Secret", `${core}/secrets`, { metadata: { name: "bound" } }],
  ];
  for (const [kind, path, body] of bound) {
    await ask(cluster, "POST", path, body);
    const token = await boundTo(kind, "bound");
    equal(await shown(cluster, token), 201, kind);
    await ask(cluster, "DELETE", `${path}/bound?gracePeriodSeconds=0`);
    equal(await shown(cluster, token), 401, `${kind}, deleted`);
    equal((await ask(cluster, "POST", path, body)).status, 201);
    equal(await shown(cluster, token), 401, `${kind}, made anew`);
  }
  const token = await issued(cluster);
  await ask(cluster, "DELETE", `${core}/serviceaccounts/robot`);
  equal(await shown(cluster, token), 401, "account, deleted");
  equal((await ask(cluster, "POST", `${core}/serviceaccounts`, { metadata: { name: "robot" } })).status, 201);
  equal(await shown(cluster, token), 401, "account, made anew");
  equal(await shown(cluster, await issued(cluster)), 201);
});

x509.cryptoProvider.set(webcrypto as unknown as Crypto);
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const dayMs = 24 * 3_600_000;
const startMs = Date.UTC(2026, 0, 1);

interface Issued {
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

async function certify(
  subject: string | x509.JsonName,
  issuer: Issued | undefined,
  { fromMs = startMs - dayMs, toMs = startMs + dayMs, usage = x509.ExtendedKeyUsage.clientAuth as string | undefined, isAuthority = false } = {},
): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer?.certificate.subjectName.toJSON() ?? subject,
    notBefore: new Date(fromMs),
    notAfter: new Date(toMs),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey as webcrypto.CryptoKey,
    signingKey: (issuer?.keys ?? keys).privateKey as webcrypto.CryptoKey,
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      ...(usage === undefined ? [] : [new x509.ExtendedKeyUsageExtension([usage])]),
    ],
  });
  return { certificate, keys: keys as webcrypto.CryptoKeyPair };
}

test("security: no certificate but one of the clients' authority, in its time, for a client", async () => {
  const authority = await certify("CN=ca", undefined, { isAuthority: true, usage: undefined });
  const namesake = await certify("CN=ca", undefined, { isAuthority: true, usage: undefined });
  const leaf = await certify("CN=jane, O=dev", authority);
  const clock = new VirtualClock(startMs);
  const authenticator = clientCertificates(new CertificateTrust([authority.certificate.toString("pem")]), clock);
  const identify = async ({ certificate }: Issued) => {
    const peer = { address: "", isHttp2: false, certificate: new Uint8Array(certificate.rawData) };
    const request = { method: "GET", path: "/", query: "", headers: {}, body: new Uint8Array(), peer, signal: new AbortController().signal };
    const result = await authenticator.authenticate(request);
    ok(result !== undefined);
    return "user" in result ? `${result.user.username} [${result.user.groups.join(",")}]` : "nobody";
  };
  const admin = "CN=admin, O=system:masters";
  const table: [say: string, who: Issued, expected: string][] = [
    ["good", leaf, "jane [dev]"],
    ["without a stated use", await certify("CN=kate", authority, { usage: undefined }), "kate []"],
    ["over", await certify(admin, authority, { fromMs: startMs - 2 * dayMs, toMs: startMs - 1000 }), "nobody"],
    ["not yet begun", await certify(admin, authority, { fromMs: startMs + 1000 }), "nobody"],
    ["a server's", await certify(admin, authority, { usage: x509.ExtendedKeyUsage.serverAuth }), "nobody"],
    ["of an authority of the same name", await certify(admin, namesake), "nobody"],
    ["signed by a client", await certify(admin, leaf), "nobody"],
    ["signed by itself", await certify(admin, undefined), "nobody"],
    ["of letters with a meaning", await certify([{ CN: ["a+b, c=d@x.org"] }], authority), "a+b, c=d@x.org []"],
    ["with a line in the name", await certify([{ CN: ["a\nO=system:masters"] }], authority), "a\nO=system:masters []"],
    ["name and group at one level", await certify([{ CN: ["jane"], O: ["dev"] }], authority), "jane [dev]"],
    ["of two names the last", await certify([{ CN: ["first"] }, { CN: ["last"] }], authority), "last []"],
    ["without a name", await certify("O=system:masters", authority), "nobody"],
  ];
  const found = await Promise.all(table.map(async ([say, who]) => `${say}: ${await identify(who)}`));
  deepEqual(
    found,
    table.map(([say, , expected]) => `${say}: ${expected}`),
  );
  await clock.advance(2 * dayMs);
  equal(await identify(leaf), "nobody", "its time ends while the server runs");
});
