/** Values that upstream stored are read, and what we store reads back; vectors are upstream's bytes. */
import { test } from "node:test";
import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import vectors from "./stored-vectors.json" with { type: "json" };
import { readConfiguration } from "./configuration.ts";
import { KmsEnvelope, KmsError } from "./kms.ts";
import type { KmsService } from "./kms.ts";
import { buildRules } from "./rules.ts";
import type { EncryptionRules } from "./rules.ts";

const random = seededRandom(7);
const key1 = { name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" };
const key2 = { name: "key2", secret: "GiEoLzY9REtSWWBnbnV8g4qRmJ+mrbS7wsnQ197l7PM=" };

function rulesOf(resources: unknown, envelope?: KmsEnvelope): EncryptionRules {
  const file = JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration", resources });
  return buildRules(readConfiguration(Buffer.from(file), "FILE"), { storageRoot: "/registry/", random, allowsKmsV1: false, makeEnvelope: () => envelope! });
}

const forSecrets = (...providers: object[]) => rulesOf([{ resources: ["secrets"], providers }]).transformerFor("/registry/secrets/a/b")!;

test("encryption: upstream's values open, ours come back", async () => {
  for (const name of ["aesgcm", "aescbc", "secretbox", "identity"] as const) {
    const { resources, key, value, plain } = vectors[name];
    const transformer = rulesOf(resources).transformerFor(key)!;
    const opened = await transformer.open(Buffer.from(value, "base64"), key);
    deepEqual([Buffer.from(opened.plain).toString("base64"), opened.isStale], [plain, false], name);
    const sealed = await transformer.seal(opened.plain, key);
    if (name !== "identity") ok(Buffer.from(sealed).toString("latin1").startsWith(`k8s:enc:${name}:v1:key1:`));
    deepEqual(Buffer.from((await transformer.open(sealed, key)).plain).toString("base64"), plain, name);
  }
});

test("encryption: what was changed or moved does not open, where the cipher can tell", () => {
  const table: [provider: string, opensElsewhere: boolean, fault: string][] = [
    ["aesgcm", false, "cipher: message authentication failed"],
    ["secretbox", true, "output array was not large enough for encryption"],
    ["aescbc", true, "invalid padding on input"],
  ];
  for (const [provider, opensElsewhere, fault] of table) {
    const transformer = forSecrets({ [provider]: { keys: [key1] } });
    const sealed = Buffer.from(transformer.seal(Buffer.from("plain text"), "/registry/secrets/a/b") as Uint8Array);
    const elsewhere = () => transformer.open(sealed, "/registry/secrets/a/c");
    if (opensElsewhere) elsewhere();
    else throws(elsewhere, { message: fault });
    sealed[sealed.length - 1]! ^= 1;
    throws(() => transformer.open(sealed, "/registry/secrets/a/b"), { name: "TransformError", message: fault }, provider);
  }
});

test("encryption: several keys and providers: the first writes, all read, what others wrote is stale", async () => {
  const key = "/registry/secrets/a/b";
  const old = forSecrets({ aescbc: { keys: [key1] } });
  const middle = forSecrets({ aesgcm: { keys: [key1] } });
  const now = forSecrets({ aesgcm: { keys: [key2, key1] } }, { aescbc: { keys: [key1] } }, { identity: {} });
  const plain = Buffer.from("text");
  for (const [sealed, isStale] of [
    [await old.seal(plain, key), true],
    [await middle.seal(plain, key), true],
    [plain, true],
    [await now.seal(plain, key), false],
  ] as const) {
    const opened = await now.open(sealed, key);
    deepEqual([Buffer.from(opened.plain).toString(), opened.isStale], ["text", isStale]);
  }
  throws(() => forSecrets({ aesgcm: { keys: [{ ...key1, name: "key3" }] } }, { identity: {} }).open(middle.seal(plain, key) as Uint8Array, key), {
    message: "no matching key was found for the provided AES transformer",
  });
  throws(() => forSecrets({ aesgcm: { keys: [key1] } }).open(plain, key), { message: "no matching prefix found" });
  // Turned off again: identity writes, the cipher still reads.
  const off = forSecrets({ identity: {} }, { aesgcm: { keys: [key1] } });
  deepEqual(Buffer.from(await off.seal(plain, key)), plain);
  deepEqual((await off.open(await middle.seal(plain, key), key)).isStale, true);
});

test("encryption: which rule is for which key", () => {
  const aes = { aesgcm: { keys: [key1] } };
  const table: [resources: string[], key: string, isEncrypted: boolean][] = [
    [["secrets"], "/registry/secrets/a/b", true],
    [["secrets"], "/registry/configmaps/a/b", false],
    [["services", "nodes"], "/registry/services/specs/a/b", true],
    [["services", "nodes"], "/registry/services/endpoints/a/b", false],
    [["services", "nodes"], "/registry/minions/a", true],
    [["*."], "/registry/pods/a/b", true],
    [["*."], "/registry/deployments/a/b", false],
    [["*.apps"], "/registry/deployments/a/b", true],
    [["*.example.com"], "/registry/example.com/widgets/a/b", true],
    [["widgets.example.com"], "/registry/example.com/gadgets/a/b", false],
    [["*.*"], "/registry/apiregistration.k8s.io/apiservices/a", true],
    [["*.*"], "/registry/masterleases/192.0.2.1", false],
    [["deployments"], "/registry/deployments/a/b", false],
  ];
  for (const [resources, key, isEncrypted] of table) {
    const sealed =
      rulesOf([{ resources, providers: [aes] }])
        .transformerFor(key)
        ?.seal(Buffer.from("x"), key) ?? Buffer.from("x");
    equal(
      Buffer.from(sealed as Uint8Array)
        .toString("latin1")
        .startsWith("k8s:enc:"),
      isEncrypted,
      `${resources.join()} ${key}`,
    );
  }
});

/** Encrypts as the plugin did that upstream was recorded with: the ciphertext is the plaintext's base64 text. */
function fakeService(log: string[], state = { keyId: "kid-1", fault: undefined as KmsError | undefined }): KmsService & { state: typeof state } {
  const answer = async <T>(method: string, value: T): Promise<T> => {
    log.push(method);
    if (state.fault !== undefined) throw state.fault;
    return value;
  };
  return {
    state,
    status: () => answer("Status", { version: "v2", healthz: "ok", keyId: state.keyId }),
    encrypt: ({ plaintext }) =>
      answer("Encrypt", {
        ciphertext: Buffer.from(Buffer.from(plaintext).toString("base64")),
        keyId: state.keyId,
        annotations: { "a.example.com": Buffer.from("v") },
      }),
    decrypt: ({ ciphertext }) => answer("Decrypt", { plaintext: Buffer.from(Buffer.from(ciphertext).toString(), "base64") }),
    close: () => log.push("close"),
  };
}

test("encryption: envelopes of a key management service", async () => {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const service = fakeService(calls);
  const envelope = new KmsEnvelope({ name: "plug", service, clock, random, log: silentLog });
  await envelope.start();
  const { resources, key, value, plain } = vectors.kmsv2;
  const transformer = rulesOf(resources, envelope).transformerFor(key)!;
  const opened = await transformer.open(Buffer.from(value, "base64"), key);
  deepEqual([Buffer.from(opened.plain).toString("base64"), opened.isStale], [plain, false]);
  deepEqual(calls, ["Status", "Encrypt", "Decrypt"]);
  // What was written with the present seed asks the plugin for nothing.
  const sealed = await transformer.seal(opened.plain, key);
  ok(Buffer.from(sealed).toString("latin1").startsWith("k8s:enc:kms:v2:plug:"));
  deepEqual(Buffer.from((await transformer.open(sealed, key)).plain).toString("base64"), plain);
  await rejects(async () => transformer.open(sealed, `${key}2`), { message: "cipher: message authentication failed" });
  equal(calls.length, 3);
  // Another key: a new seed, and what the old one wrote is stale.
  const stop = new AbortController();
  const running = envelope.run(stop.signal);
  service.state.keyId = "kid-2";
  await clock.advance(60_000);
  deepEqual(calls.slice(3), ["Status", "Encrypt"]);
  equal((await transformer.open(sealed, key)).isStale, true);
  equal((await transformer.open(await transformer.seal(opened.plain, key), key)).isStale, false);
  // A plugin that fails: told, written on for a while, then no more.
  service.state.fault = new KmsError("Unavailable", "no plugin");
  await clock.advance(120_000);
  equal(envelope.fault, "no plugin");
  await transformer.seal(opened.plain, key);
  await clock.advance(120_000);
  throws(() => transformer.seal(opened.plain, key), /expired/);
  service.state.fault = undefined;
  await clock.advance(60_000);
  equal(envelope.fault, undefined);
  await transformer.seal(opened.plain, key);
  stop.abort();
  await running;
  equal(calls.at(-1), "close");
});
