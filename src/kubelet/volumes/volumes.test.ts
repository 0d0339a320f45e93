import assert from "node:assert/strict";
import { mkdtemp, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod, Volume } from "../../api/core-v1/types.ts";
import { writeAtomically } from "./atomic-writer.ts";
import { checkHostPath } from "./plugins/host-path.ts";
import { referencedNames } from "./object-source.ts";
import { volumePayload } from "./payload.ts";
import type { PayloadSources } from "./payload.ts";

const sources: PayloadSources = {
  facts: { podIPs: [], nodeAddress: "", allocatable: {} },
  configMap: (name) => (name === "cm" ? { metadata: { name }, data: { a: "one", b: "two" }, binaryData: { bin: "AAEC" } } : undefined),
  secret: (name) => (name === "se" ? { metadata: { name }, data: { s: "dHdv" } } : undefined),
  token: async () => ({ token: "TOKEN", expirationTimestamp: "", refreshAtMs: 1000 }),
  trustBundles: () => [],
  certificate: async () => ({ key: "KEY\n", chain: "CHAIN\n", refreshAtMs: 500 }),
};
const pod: Pod = { metadata: { name: "p", namespace: "n", uid: "u", labels: { a: "1" } }, spec: { containers: [{ name: "c" }] } };

const payloads: [name: string, volume: Omit<Volume, "name">, expected: string][] = [
  ["config map", { configMap: { name: "cm" } }, "a=one 644, b=two 644, bin=\u0000\u0001\u0002 644"],
  ["items", { configMap: { name: "cm", defaultMode: 0o400, items: [{ key: "a", path: "x/y" }, { key: "b", path: "z", mode: 0o755 }] } }, "x/y=one 400, z=two 755"],
  ["missing", { configMap: { name: "no" } }, 'configmap "no" not found'],
  ["missing, optional", { configMap: { name: "no", optional: true } }, ""],
  ["missing key", { configMap: { name: "cm", items: [{ key: "z", path: "z" }] } }, "configmap references non-existent config key: z"],
  ["secret", { secret: { secretName: "se" } }, "s=two 644"],
  ["missing secret", { secret: { secretName: "no" } }, 'secret "no" not found'],
  ["downward API", { downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] } }, 'l=a="1" 644'],
  ["projected", { projected: { sources: [{ secret: { name: "se" } }, { serviceAccountToken: { path: "t" } }] } }, "s=two 644, t=TOKEN 644"],
  ["certificate", { projected: { sources: [{ podCertificate: { signerName: "s", keyType: "ED25519", credentialBundlePath: "b", keyPath: "k", certificateChainPath: "c" } }] } }, "b=KEY\nCHAIN\n 644, k=KEY\n 644, c=CHAIN\n 644"],
  ["no trust bundle", { projected: { sources: [{ clusterTrustBundle: { name: "x", path: "p" } }] } }, 'error retrieving trust anchors: clustertrustbundle.certificates.k8s.io "x" not found'],
];
for (const [name, volume, expected] of payloads) {
  test(`payload: ${name}`, async () => {
    const text = await volumePayload(pod, { name: "v", ...volume }, sources).then(
      ({ files }) => files.map(({ path, data, mode }) => `${path}=${Buffer.from(data).toString("utf8")} ${mode.toString(8)}`).join(", "),
      (error: Error) => error.message,
    );
    assert.equal(text, expected);
  });
}

test("atomic writer: names link through ..data, what is gone goes, nothing is written when nothing changed", async () => {
  await using folder = await temporaryFolder();
  const file = (path: string, text: string) => ({ path, data: Buffer.from(text), mode: 0o644 });
  assert.equal(await writeAtomically(folder.path, [file("a", "1"), file("d/b", "2")], { nowMs: 1000 }), true);
  const before = await readlink(join(folder.path, "..data"));
  assert.equal(await writeAtomically(folder.path, [file("a", "1"), file("d/b", "2")], { nowMs: 2000 }), false);
  assert.equal(await readlink(join(folder.path, "..data")), before);
  assert.equal(await readFile(join(folder.path, "d", "b"), "utf8"), "2");
  assert.equal(await writeAtomically(folder.path, [file("a", "3")], { nowMs: 1000 }), true);
  assert.equal(await readFile(join(folder.path, "a"), "utf8"), "3");
  const current = await readlink(join(folder.path, "..data"));
  assert.deepEqual((await readdir(folder.path)).toSorted(), ["..data", current, "a"].toSorted());
});

const hostPaths: [type: string, path: string, fault: string | undefined][] = [
  ["", "nothing", undefined],
  ["Directory", "folder", undefined],
  ["Directory", "file", "is not a directory, it's a File"],
  ["File", "folder", "is not a file, it's a Directory"],
  ["DirectoryOrCreate", "new", undefined],
  ["FileOrCreate", "newfile", undefined],
  ["CharDevice", "/dev/null", undefined],
  ["CharDevice", "file", "is not a character device, it's a File"],
  ["BlockDevice", "/dev/null", "is not a block device, it's a CharDevice"],
  ["File", "nothing", "is not a file"],
  ["Socket", "file", "is not a socket file, it's a File"],
];
for (const [type, path, fault] of hostPaths) {
  test(`host path: ${path} as ${type === "" ? "anything" : type}`, async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "folder"));
    await writeFile(join(folder.path, "file"), "");
    const whole = path.startsWith("/") ? path : join(folder.path, path);
    const message = await checkHostPath(whole, type).then(
      () => undefined,
      (error: Error) => error.message,
    );
    assert.equal(message, fault === undefined ? undefined : `hostPath type check failed: ${whole} ${fault}`);
    if (type.endsWith("OrCreate")) assert.equal((await stat(whole)).isDirectory(), type === "DirectoryOrCreate");
  });
}

test("objects that a pod names", () => {
  const named: Pod = {
    metadata: { name: "p" },
    spec: {
      imagePullSecrets: [{ name: "pull" }],
      volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "a" } }, { secret: { name: "b" } }] } }],
      containers: [{ name: "c", envFrom: [{ configMapRef: { name: "d" } }], env: [{ name: "E", valueFrom: { secretKeyRef: { name: "e", key: "k" } } }] }],
    },
  };
  assert.deepEqual(referencedNames(named), { configMaps: ["a", "d"], secrets: ["b", "e", "pull"] });
});

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "kubelet-volumes-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
