import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec, Toleration } from "../../../api/core-v1/types.ts";
import { allContainers } from "./containers.ts";
import { podAmounts } from "./pod-resources.ts";
import { claimNamesOf, configMapNamesOf, secretNamesOf } from "./references.ts";
import { covers, mergeTolerations } from "./tolerations.ts";

test("the visitor meets every sort of container", () => {
  const spec: PodSpec = { containers: [{ name: "c" }], initContainers: [{ name: "i" }], ephemeralContainers: [{ name: "e" }] };
  assert.deepEqual(
    allContainers(spec).map(({ container, sort }) => `${sort} ${container.name}`),
    ["init container i", "container c", "ephemeral container e"],
  );
});

test("references are found wherever they stand", () => {
  const spec: PodSpec = {
    imagePullSecrets: [{ name: "pull" }],
    initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "init" } }] }],
    ephemeralContainers: [{ name: "e", env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "cm", key: "k" } } }] }],
    volumes: [
      { name: "v", projected: { sources: [{ secret: { name: "proj" } }, { configMap: { name: "pcm" } }] } },
      { name: "p", persistentVolumeClaim: { claimName: "claim" } },
      { name: "w", ephemeral: {} },
      { name: "s", csi: { driver: "d", nodePublishSecretRef: { name: "csi" } } },
    ],
  };
  assert.deepEqual(secretNamesOf(spec), ["pull", "init", "proj", "csi"]);
  assert.deepEqual(configMapNamesOf(spec), ["cm", "pcm"]);
  assert.deepEqual(claimNamesOf({ metadata: { name: "pod" }, spec }), ["claim", "pod-w"]);
});

test("what a pod asks for as a whole", () => {
  const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } });
  const table: [spec: PodSpec, expected: string | undefined][] = [
    [
      {
        containers: [
          { name: "a", ...cpu("1") },
          { name: "b", ...cpu("500m") },
        ],
      },
      "1500m",
    ],
    [{ containers: [{ name: "a", ...cpu("1") }], initContainers: [{ name: "i", ...cpu("3") }] }, "3"],
    [
      {
        containers: [{ name: "a", ...cpu("1") }],
        initContainers: [
          { name: "s", restartPolicy: "Always", ...cpu("2") },
          { name: "i", ...cpu("2") },
        ],
      },
      "4",
    ],
    [{ containers: [{ name: "a", ...cpu("1") }], ...cpu("5") }, "5"],
    [{ containers: [{ name: "a", ...cpu("1") }], overhead: { cpu: "100m" } }, "1100m"],
    [{ containers: [{ name: "a" }] }, undefined],
  ];
  for (const [spec, expected] of table) assert.equal(podAmounts(spec, "requests", { withOverhead: true }).get("cpu")?.text, expected);
});

test("tolerations that cover others", () => {
  const all: Toleration = { operator: "Exists" };
  const key: Toleration = { key: "k", operator: "Exists" };
  const value: Toleration = { key: "k", operator: "Equal", value: "v", effect: "NoSchedule" };
  assert.equal(covers(all, value), true);
  assert.equal(covers(key, value), true);
  assert.equal(covers(value, key), false);
  assert.deepEqual(mergeTolerations([value, key], [key]), [key]);
  assert.deepEqual(mergeTolerations([{ key: "a", operator: "Exists" }], [key]).length, 2);
});
