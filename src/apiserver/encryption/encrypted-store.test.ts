import { test } from "node:test";
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { readBody } from "../../client/index.ts";
import { openMemoryStore } from "../../storage/memory-store.ts";
import { storeConformance } from "../../storage/store-conformance.ts";
import type { Store } from "../../storage/store.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { aesGcm } from "./ciphers.ts";
import { readConfiguration } from "./configuration.ts";
import { EncryptedStore } from "./encrypted-store.ts";
import { KmsError } from "./kms.ts";
import { buildRules } from "./rules.ts";
import type { EncryptionRules } from "./rules.ts";

const random = seededRandom(3);
const always: EncryptionRules = { envelopes: [], transformerFor: () => aesGcm(Buffer.alloc(32, 1), random) };

storeConformance("encrypted store", async () => {
  const clock = new VirtualClock();
  return { store: new EncryptedStore(openMemoryStore({ clock }), always, "/registry/"), clock };
});

const secretOf = (seed: number) => Buffer.alloc(32, seed).toString("base64");

function rulesOf(resource: string, ...keys: { name: string; secret: string }[]): EncryptionRules {
  const file = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [{ resources: [resource], providers: [{ aesgcm: { keys } }, { identity: {} }] }],
  };
  const makeEnvelope = () => {
    throw new Error("no plugin");
  };
  return buildRules(readConfiguration(Buffer.from(JSON.stringify(file)), "FILE"), { storageRoot: "/registry/", random, allowsKmsV1: false, makeEnvelope });
}

const key1 = { name: "key1", secret: secretOf(1) };
const key2 = { name: "key2", secret: secretOf(2) };

async function startCluster(rules: EncryptionRules, image?: Awaited<ReturnType<Store["range"]>>) {
  const stores: { inner?: Store; encrypted?: EncryptedStore } = {};
  const wrapStore = (inner: Store) => {
    stores.inner = inner;
    return (stores.encrypted = new EncryptedStore(inner, rules, "/registry/"));
  };
  const cluster = await TestCluster.start({ wrapStore, ...(image !== undefined && { image }) });
  return { cluster, inner: stores.inner!, encrypted: stores.encrypted! };
}

async function ask(cluster: TestCluster, method: string, path: string, body?: object, contentType = "application/json") {
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body));
  const response = await cluster.client.send({ method, path, query: "", headers: body === undefined ? {} : { "content-type": contentType }, body: bytes });
  return { status: response.status, body: JSON.parse(Buffer.from(await readBody(response.body)).toString() || "null") };
}

const secrets = "/api/v1/namespaces/default/secrets";
const secret = (name: string) => ({ kind: "Secret", apiVersion: "v1", metadata: { name }, stringData: { p: "hunter2" } });
const storedText = async (store: Store, name: string) => Buffer.from((await store.get(`/registry/secrets/default/${name}`))!.value).toString("latin1");

test("encryption: stored values say nothing, clients see no difference, rotation rewrites once", async () => {
  const { cluster, inner, encrypted } = await startCluster(rulesOf("secrets", key1));
  await using _ = cluster;
  const made = await ask(cluster, "POST", secrets, secret("a"));
  const before = await storedText(inner, "a");
  ok(before.startsWith("k8s:enc:aesgcm:v1:key1:") && !before.includes("hunter2") && !before.includes(Buffer.from("hunter2").toString("base64")));
  equal((await ask(cluster, "GET", `${secrets}/a`)).body.data.p, Buffer.from("hunter2").toString("base64"));
  equal((await ask(cluster, "PUT", `${secrets}/a`, made.body)).body.metadata.resourceVersion, made.body.metadata.resourceVersion);
  encrypted.rules = rulesOf("secrets", key2, key1);
  const rewritten = await ask(cluster, "PUT", `${secrets}/a`, made.body);
  ok((await storedText(inner, "a")).startsWith("k8s:enc:aesgcm:v1:key2:"));
  ok(rewritten.body.metadata.resourceVersion !== made.body.metadata.resourceVersion);
  equal((await ask(cluster, "PUT", `${secrets}/a`, rewritten.body)).body.metadata.resourceVersion, rewritten.body.metadata.resourceVersion);
});

test("encryption: values without their key: told in upstream's words, deleted only when that is meant", async () => {
  const first = await startCluster(rulesOf("secrets", key1));
  await ask(first.cluster, "POST", secrets, secret("a"));
  const image = await first.inner.range("/");
  await first.cluster.close();
  const { cluster } = await startCluster(rulesOf("secrets", key2), image);
  await using _ = cluster;
  const fault = "data from the storage is not transformable revision=0: no matching key was found for the provided AES transformer";
  const corrupt = (root: string) => `StorageError: corrupt object, Code: 7, Key: ${root}/secrets/default/a, ResourceVersion: 0, AdditionalErrorMsg: ${fault}`;
  const read = await ask(cluster, "GET", `${secrets}/a`);
  deepEqual([read.status, read.body.reason, read.body.message], [500, "InternalError", `Internal error occurred: ${corrupt("")}`]);
  const list = await ask(cluster, "GET", secrets);
  deepEqual(
    [list.status, list.body.reason, list.body.message],
    [500, "StorageReadError", `failed to read one or more secrets from the storage: ${corrupt("/registry")}`],
  );
  deepEqual(list.body.details, {
    name: "list",
    kind: "secrets",
    causes: [{ reason: "UnexpectedServerResponse", message: corrupt("/registry"), field: "/registry/secrets/default/a" }],
  });
  equal((await ask(cluster, "GET", "/api/v1/namespaces/kube-system/secrets")).status, 200);
  const patched = await ask(cluster, "PATCH", `${secrets}/a`, { metadata: { labels: { a: "b" } } }, "application/merge-patch+json");
  deepEqual([patched.status, patched.body.message], [500, `Internal error occurred: ${fault}`]);
  deepEqual((await ask(cluster, "POST", secrets, secret("a"))).status, 409);
  deepEqual((await ask(cluster, "DELETE", `${secrets}/a`)).body.message, `Internal error occurred: ${corrupt("")}`);
  const unsafe = { kind: "DeleteOptions", apiVersion: "v1", ignoreStoreReadErrorWithClusterBreakingPotential: true };
  match(
    (await ask(cluster, "DELETE", `${secrets}/a`, { ...unsafe, gracePeriodSeconds: 0 })).body.message,
    /Invalid value: true: cannot be set together with \.gracePeriodSeconds$/,
  );
  equal((await ask(cluster, "DELETE", `${secrets}/a`, { ...unsafe, dryRun: ["All"] })).status, 200);
  equal((await ask(cluster, "GET", `${secrets}/a`)).status, 500);
  equal((await ask(cluster, "DELETE", `${secrets}/a`, unsafe)).status, 200);
  deepEqual([(await ask(cluster, "GET", `${secrets}/a`)).status, (await ask(cluster, "GET", secrets)).status], [404, 200]);
  await ask(cluster, "POST", secrets, secret("b"));
  match((await ask(cluster, "DELETE", `${secrets}/b`, unsafe)).body.message, /unsafe deletion is not allowed because the object is decodable from storage$/);
});

test("encryption: a plugin that does not answer is the store's failure, not the value's", async () => {
  const inner = openMemoryStore({ clock: new VirtualClock() });
  const unreachable = { open: () => Promise.reject(new KmsError("Unavailable", "no plugin")), seal: (plain: Uint8Array) => plain };
  await using store = new EncryptedStore(inner, { envelopes: [], transformerFor: () => unreachable }, "/registry/");
  await store.commit({ kind: "put", key: "/registry/secrets/a/b", value: Buffer.from("x"), expected: 0 });
  await rejects(store.get("/registry/secrets/a/b"), { name: "StoreError", reason: "Unavailable" });
});

test("encryption: a snapshot holds what is at rest", async () => {
  const { cluster, inner } = await startCluster(rulesOf("secrets", key1));
  await using _ = cluster;
  await ask(cluster, "POST", secrets, secret("a"));
  const response = await cluster.client.send({ method: "GET", path: "/coracle/v1/snapshot", query: "", headers: {}, body: new Uint8Array() });
  const snapshot = Buffer.from(await readBody(response.body));
  equal(snapshot.includes("hunter2"), false);
  equal(snapshot.includes((await inner.get("/registry/secrets/default/a"))!.value), true);
});
