import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { sendUnaryData, ServerUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { decode, encode } from "../../storage/etcd/wire.ts";
import type { Store } from "../../storage/index.ts";
import { openMemoryStore } from "../../storage/memory-store.ts";
import { EncryptionAtRest } from "./encryption-at-rest.ts";
import { kmsMessages } from "./kms-connection.ts";

const environment = { clock: new VirtualClock(), random: seededRandom(1), log: silentLog, setVerbosity() {} };
const aesKey = (seed: number) => ({ name: `key${seed}`, secret: Buffer.alloc(32, seed).toString("base64") });

/** A plugin on a socket: what it is asked for is turned round, byte by byte. */
async function startPlugin(socket: string): Promise<{ calls: string[]; refuses: boolean; stop(): void }> {
  const plugin = { calls: [] as string[], refuses: false, stop: () => server.forceShutdown() };
  const turned = (bytes: Uint8Array) => Buffer.from(bytes).reverse();
  const answers = {
    Status: () => ({ version: "v2", healthz: "ok", keyId: "kid" }),
    Encrypt: ({ plaintext }: { plaintext: Uint8Array }) => ({
      ciphertext: turned(plaintext),
      keyId: "kid",
      annotations: [{ key: "a.example.com", value: Buffer.from("v") }],
    }),
    Decrypt: ({ ciphertext }: { ciphertext: Uint8Array }) => ({ plaintext: turned(ciphertext) }),
  };
  const server = new Server();
  const methods = (Object.keys(answers) as (keyof typeof answers)[]).map((name) => {
    const definition = {
      path: `/v2.KeyManagementService/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: object) => encode(kmsMessages[`${name}Request`], value),
      requestDeserialize: (bytes: Buffer) => decode(kmsMessages[`${name}Request`], bytes),
      responseSerialize: (value: object) => encode(kmsMessages[`${name}Response`], value),
      responseDeserialize: (bytes: Buffer) => decode(kmsMessages[`${name}Response`], bytes),
    } as const;
    const handle = ({ request }: ServerUnaryCall<never, object>, callback: sendUnaryData<object>) => {
      plugin.calls.push(name);
      if (plugin.refuses) callback({ code: status.INTERNAL, details: "not today" });
      else callback(null, answers[name](request));
    };
    return [name, definition, handle] as const;
  });
  server.addService(
    Object.fromEntries(methods.map(([name, definition]) => [name, definition])),
    Object.fromEntries(methods.map(([name, , handle]) => [name, handle])) as unknown as UntypedServiceImplementation,
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error))),
  );
  return plugin;
}

async function inFolder(
  work: (write: (providers: object[]) => Promise<void>, open: (inner: Store) => Promise<EncryptionAtRest>, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "encryption-"));
  const file = join(folder, "config.yaml");
  const write = (providers: object[]) =>
    writeFile(
      file,
      JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration", resources: [{ resources: ["secrets"], providers }] }),
    );
  const open = (inner: Store) => EncryptionAtRest.open(inner, { file, reloads: false, storageRoot: "/registry/", allowsKmsV1: false }, environment);
  try {
    await work(write, open, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const key = "/registry/secrets/default/a";
const put = (store: Store, value: string) => store.commit({ kind: "put", key, value: Buffer.from(value), expected: 0 });
const textOf = async (store: Store) => Buffer.from((await store.get(key))!.value).toString("latin1");

test("encryption at rest: keys of a plugin on its socket", () =>
  inFolder(async (write, open, folder) => {
    const socket = join(folder, "kms.sock");
    const plugin = await startPlugin(socket);
    await write([{ kms: { apiVersion: "v2", name: "plug", endpoint: `unix://${socket}` } }, { identity: {} }]);
    const inner = openMemoryStore({ clock: environment.clock });
    await using _inner = inner;
    {
      await using encryption = await open(inner);
      await put(encryption.store, "text");
      ok((await textOf(inner)).startsWith("k8s:enc:kms:v2:plug:"));
      equal(await textOf(encryption.store), "text");
      deepEqual([plugin.calls, encryption.fault, encryption.hasPlugins], [["Status", "Encrypt"], undefined, true]);
    }
    // Another process has another seed, and asks the plugin for the old one.
    await using again = await open(inner);
    equal(await textOf(again.store), "text");
    deepEqual(plugin.calls.slice(2), ["Status", "Encrypt", "Decrypt"]);
    // What the plugin refuses to open is a fault of the value.
    plugin.refuses = true;
    await inner.commit({ kind: "put", key: `${key}b`, value: Buffer.from((await inner.get(key))!.value), expected: 0 });
    ok(
      Buffer.from((await again.store.get(`${key}b`))!.value)
        .toString()
        .includes("cipher: message authentication failed"),
    );
    plugin.stop();
  }));

test("encryption at rest: the file is read again; one that is wrong changes nothing", () =>
  inFolder(async (write, open) => {
    await write([{ aesgcm: { keys: [aesKey(1)] } }, { identity: {} }]);
    await using inner = openMemoryStore({ clock: environment.clock });
    await using encryption = await open(inner);
    await put(encryption.store, "text");
    equal(await encryption.reload(), false);
    await write([{ aescbc: { keys: [] } }]);
    await rejects(encryption.reload(), {
      message: "error while parsing file: resources[0].providers[0].aescbc.keys: Required value: at least one keys is required",
    });
    equal(await textOf(encryption.store), "text");
    await write([{ secretbox: { keys: [aesKey(2)] } }, { aesgcm: { keys: [aesKey(1)] } }]);
    equal(await encryption.reload(), true);
    deepEqual([await textOf(encryption.store), await encryption.store.isStale(key)], ["text", true]);
    const { modRevision } = (await inner.get(key))!;
    await encryption.store.commit({ kind: "put", key, value: Buffer.from("text"), expected: modRevision });
    ok((await textOf(inner)).startsWith("k8s:enc:secretbox:v1:key2:"));
    equal(await encryption.store.isStale(key), false);
  }));

test("encryption at rest: a file that is not there", () =>
  inFolder(async (_, open, folder) => {
    const file = join(folder, "config.yaml");
    const message = `error while parsing file: error while loading file: error reading encryption provider configuration file "${file}": open ${file}: no such file or directory`;
    await rejects(open(openMemoryStore({ clock: environment.clock })), { name: "UsageError", message });
  }));
