import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, Service } from "../../api/core-v1/types.ts";
import { containerEnvironment } from "./container-environment.ts";
import type { EnvironmentSources } from "./container-environment.ts";
import { parseEnvFile } from "./env-file.ts";
import { expand } from "./expand.ts";
import { resourceValue } from "./field-values.ts";
import { serviceVariables } from "./service-variables.ts";

const expansions: [text: string, result: string][] = [
  ["$(A)", "x"],
  ["$(A)-$(B)", "x-$(B)"],
  ["$$(A)", "$(A)"],
  ["$A", "$A"],
  ["$(A", "$(A"],
  ["a$", "a$"],
  ["$$$(A)", "$x"],
  ["$()", "$()"],
];
for (const [text, result] of expansions) test(`expand ${text}`, () => assert.equal(expand(text, new Map([["A", "x"]])), result));

const facts = { podIPs: ["10.0.0.1"], nodeAddress: "192.0.2.1", allocatable: { cpu: "4", memory: "1Gi" } };
const pod: Pod = {
  metadata: { name: "p", namespace: "n", labels: { b: "2", a: "1" } },
  spec: { containers: [{ name: "c", resources: { requests: { cpu: "250m" }, limits: { memory: "64Mi" } } }] },
};

const fields: [fieldPath: string, result: string][] = [
  ["metadata.name", "p"],
  ["metadata.namespace", "n"],
  ["metadata.uid", "u"],
  ["status.podIP", "10.0.0.1"],
  ["status.podIPs", "10.0.0.1,fd00::1"],
  ["status.hostIP", "192.0.2.1"],
  ["status.hostIPs", "192.0.2.1"],
];
for (const [fieldPath, result] of fields) {
  test(`environment: field ${fieldPath}`, () => {
    const known = { ...sources, facts: { ...facts, podIPs: ["10.0.0.1", "fd00::1"] } };
    const variables = containerEnvironment(
      { ...pod, metadata: { ...pod.metadata, uid: "u" } },
      { name: "c", env: [{ name: "A", valueFrom: { fieldRef: { fieldPath } } }] },
      known,
    );
    assert.deepEqual([...variables], [["A", result]]);
  });
}

const resourceValues: [resource: string, divisor: string | undefined, result: string][] = [
  ["requests.cpu", undefined, "1"],
  ["requests.cpu", "1m", "250"],
  ["limits.memory", "1Mi", "64"],
  ["limits.cpu", "0", "4"],
  ["requests.memory", undefined, "0"],
];
for (const [resource, divisor, result] of resourceValues) {
  test(`resource ${resource} / ${divisor}`, () =>
    assert.equal(resourceValue(pod, facts, { resource, ...(divisor !== undefined && { divisor }) }, "c"), result));
}

const sources: EnvironmentSources = {
  facts,
  services: [],
  configMap: (name) => (name === "cm" ? { metadata: { name }, data: { a: "1" } } : undefined),
  secret: (name) => (name === "se" ? { metadata: { name }, data: { s: "aGlkZGVu" } } : undefined),
  envFile: (volumeName, path) => (volumeName === "v" && path === "env" ? new Map([["K", "from file"]]) : undefined),
};
const files: [title: string, text: string, expected: Record<string, string> | string][] = [
  ["values as they stand", "# a comment\n\n  A='1 $x \\ \"'\nB=''\n", { A: '1 $x \\ "', B: "" }],
  ["the last counts, over lines", "A='1'\nA='2\n3'", { A: "2\n3" }],
  ["no quotes", "A='1'\nB=2\n", "line 2 of the env file is not of the form NAME='value'"],
  ["double quotes", 'A="1"', "line 1 of the env file is not of the form NAME='value'"],
  ["no end", "A='1", "line 1 of the env file is not of the form NAME='value'"],
  ["words after it", "A='1' B='2'", "line 1 of the env file is not of the form NAME='value'"],
];
for (const [title, text, expected] of files) {
  test(`env file: ${title}`, () => {
    if (typeof expected === "string") assert.throws(() => parseEnvFile(text), { message: expected });
    else assert.deepEqual(Object.fromEntries(parseEnvFile(text)), expected);
  });
}

test("a key that no file has is a fault unless it is optional", () => {
  const env = [{ name: "F", valueFrom: { fileKeyRef: { volumeName: "v", path: "env", key: "L" } } }];
  assert.throws(() => containerEnvironment(pod, { name: "c", env }, sources), { message: 'environment variable key "L" not found in file "env"' });
});

test("environment: whole secrets, with a prefix and without", () => {
  const envFrom = [{ secretRef: { name: "se" } }, { prefix: "p-", secretRef: { name: "se" } }, { secretRef: { name: "none", optional: true } }];
  assert.deepEqual(
    [...containerEnvironment(pod, { name: "c", envFrom }, sources)],
    [
      ["s", "hidden"],
      ["p-s", "hidden"],
    ],
  );
});

test("environment: later ones win, names are expanded, sources are read", () => {
  const variables = containerEnvironment(
    pod,
    {
      name: "c",
      envFrom: [{ prefix: "P_", configMapRef: { name: "cm" } }, { configMapRef: { name: "none", optional: true } }],
      env: [
        { name: "P_a", value: "own" },
        { name: "REF", value: "$(P_a)/$(NS)" },
        { name: "NS", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
        { name: "S", valueFrom: { secretKeyRef: { name: "se", key: "s" } } },
        { name: "LABELS", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } },
        { name: "F", valueFrom: { fileKeyRef: { volumeName: "v", path: "env", key: "K" } } },
        { name: "NOFILE", valueFrom: { fileKeyRef: { volumeName: "v", path: "no", key: "K", optional: true } } },
        { name: "GONE", valueFrom: { configMapKeyRef: { name: "cm", key: "z", optional: true } } },
      ],
    },
    sources,
  );
  assert.deepEqual(Object.fromEntries(variables), { P_a: "own", REF: "own/$(NS)", NS: "n", S: "hidden", F: "from file", LABELS: 'a="1"\nb="2"' });
});

const faults: [env: object, message: string][] = [
  [{ configMapKeyRef: { name: "none", key: "a" } }, 'configmap "none" not found'],
  [{ configMapKeyRef: { name: "cm", key: "b" } }, "couldn't find key b in ConfigMap n/cm"],
  [{ secretKeyRef: { name: "se", key: "b" } }, "couldn't find key b in Secret n/se"],
];
for (const [valueFrom, message] of faults) {
  test(`environment fault: ${message}`, () =>
    assert.throws(() => containerEnvironment(pod, { name: "c", env: [{ name: "A", valueFrom }] }, sources), { message }));
}

test("services: those of the namespace, and kubernetes", () => {
  const service = (namespace: string, name: string, clusterIP: string): Service => ({
    metadata: { name, namespace },
    spec: { clusterIP, ports: [{ name: "web", port: 80 }] },
  });
  const variables = serviceVariables([service("n", "my-svc", "10.0.0.9"), service("default", "kubernetes", "10.0.0.1"), service("n", "headless", "None")], {
    namespace: "n",
    isLinked: true,
  });
  assert.equal(variables.get("MY_SVC_PORT_80_TCP"), "tcp://10.0.0.9:80");
  assert.equal(variables.get("MY_SVC_SERVICE_PORT_WEB"), "80");
  assert.equal(variables.get("KUBERNETES_SERVICE_HOST"), "10.0.0.1");
  assert.deepEqual([...serviceVariables([service("n", "my-svc", "10.0.0.9")], { namespace: "n", isLinked: false })], []);
  assert.equal(
    [...variables.keys()].some((name) => name.startsWith("HEADLESS")),
    false,
  );
  const forwarded = serviceVariables([service("n", "my-svc", "10.0.0.9")], {
    namespace: "n",
    isLinked: true,
    placeOf: (_, { port }) => ({ address: "127.200.0.9", port: port + 8000 }),
  });
  assert.equal(forwarded.get("MY_SVC_SERVICE_HOST"), "127.200.0.9");
  assert.equal(forwarded.get("MY_SVC_SERVICE_PORT"), "8080");
  assert.equal(forwarded.get("MY_SVC_PORT_80_TCP"), "tcp://127.200.0.9:8080", "the name has the Service's own port");
});
