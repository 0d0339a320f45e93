import assert from "node:assert/strict";
import { mkdtemp, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { DownwardAPIVolumeFile, Pod, Volume } from "../../api/core-v1/types.ts";
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
  [
    "items",
    {
      configMap: {
        name: "cm",
        defaultMode: 0o400,
        items: [
          { key: "a", path: "x/y" },
          { key: "b", path: "z", mode: 0o755 },
        ],
      },
    },
    "x/y=one 400, z=two 755",
  ],
  ["missing", { configMap: { name: "no" } }, 'configmap "no" not found'],
  ["missing, optional", { configMap: { name: "no", optional: true } }, ""],
  ["missing key", { configMap: { name: "cm", items: [{ key: "z", path: "z" }] } }, "configmap references non-existent config key: z"],
  ["secret", { secret: { secretName: "se" } }, "s=two 644"],
  ["secret, items and modes", { secret: { secretName: "se", defaultMode: 0o400, items: [{ key: "s", path: "x/y" }] } }, "x/y=two 400"],
  ["secret, mode of an item", { secret: { secretName: "se", defaultMode: 0o400, items: [{ key: "s", path: "z", mode: 0o440 }] } }, "z=two 440"],
  ["projected config map", { projected: { sources: [{ configMap: { name: "cm" } }] } }, "a=one 644, b=two 644, bin=\u0000\u0001\u0002 644"],
  [
    "projected, default mode",
    { projected: { defaultMode: 0o400, sources: [{ configMap: { name: "cm", items: [{ key: "a", path: "x/y" }] } }, { secret: { name: "se" } }] } },
    "x/y=one 400, s=two 400",
  ],
  [
    "projected, modes of items",
    {
      projected: {
        defaultMode: 0o400,
        sources: [
          { configMap: { name: "cm", items: [{ key: "a", path: "a", mode: 0o444 }] } },
          { secret: { name: "se", items: [{ key: "s", path: "x/s", mode: 0o440 }] } },
        ],
      },
    },
    "a=one 444, x/s=two 440",
  ],
  ["missing secret", { secret: { secretName: "no" } }, 'secret "no" not found'],
  ["downward API", { downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] } }, 'l=a="1" 644'],
  ["projected", { projected: { sources: [{ secret: { name: "se" } }, { serviceAccountToken: { path: "t" } }] } }, "s=two 644, t=TOKEN 644"],
  [
    "certificate",
    {
      projected: { sources: [{ podCertificate: { signerName: "s", keyType: "ED25519", credentialBundlePath: "b", keyPath: "k", certificateChainPath: "c" } }] },
    },
    "b=KEY\nCHAIN\n 644, k=KEY\n 644, c=CHAIN\n 644",
  ],
  [
    "no trust bundle",
    { projected: { sources: [{ clusterTrustBundle: { name: "x", path: "p" } }] } },
    'error retrieving trust anchors: clustertrustbundle.certificates.k8s.io "x" not found',
  ],
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

const sized: Pod = {
  metadata: { name: "p", namespace: "n", annotations: { b: "2", a: "1" } },
  spec: { containers: [{ name: "c", resources: { requests: { cpu: "250m", memory: "32Mi" }, limits: { cpu: "1250m", memory: "64Mi" } } }, { name: "free" }] },
};
const cell = (containerName: string, resource: string, divisor: string) => ({ resourceFieldRef: { containerName, resource, divisor } });
const downward: [title: string, item: Omit<DownwardAPIVolumeFile, "path">, expected: string][] = [
  ["CPU limit", cell("c", "limits.cpu", "1m"), "1250 400"],
  ["CPU request", cell("c", "requests.cpu", "1m"), "250 400"],
  ["memory limit", cell("c", "limits.memory", "1Mi"), "64 400"],
  ["memory request", cell("c", "requests.memory", "1Mi"), "32 400"],
  ["CPU limit, allocatable when there is none", cell("free", "limits.cpu", "1"), "4 400"],
  ["memory limit, allocatable when there is none", cell("free", "limits.memory", "1Mi"), "1024 400"],
  ["name, with a mode of its own", { fieldRef: { fieldPath: "metadata.name" }, mode: 0o440 }, "p 440"],
  ["annotations", { fieldRef: { fieldPath: "metadata.annotations" } }, 'a="1"\nb="2" 400'],
];
for (const [title, item, expected] of downward) {
  test(`downward API, plain and projected: ${title}`, async () => {
    const items = [{ path: "f", ...item }];
    const here = { ...sources, facts: { podIPs: [], nodeAddress: "", allocatable: { cpu: "4", memory: "1Gi" } } };
    for (const volume of [{ downwardAPI: { defaultMode: 0o400, items } }, { projected: { defaultMode: 0o400, sources: [{ downwardAPI: { items } }] } }]) {
      const { files } = await volumePayload(sized, { name: "v", ...volume }, here);
      assert.deepEqual(
        files.map(({ path, data, mode }) => `${path}=${Buffer.from(data).toString("utf8")} ${mode.toString(8)}`),
        [`f=${expected}`],
      );
    }
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
