import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { isMeasured, nodeMetrics, podMetrics } from "./metrics-api.ts";
import type { Summary } from "./metrics-api.ts";

const time = "2026-01-01T00:00:00Z";
const used = (nanoCores: number, bytes: number) => ({ cpu: { time, usageNanoCores: nanoCores }, memory: { workingSetBytes: bytes } });
const summary: Summary = {
  node: used(250_000_000, 1 << 20),
  pods: [
    { podRef: { namespace: "a", name: "p" }, containers: [{ name: "c", ...used(1_234_567, 3000) }] },
    { podRef: { namespace: "a", name: "half" }, containers: [{ name: "c", ...used(1, 1) }, { name: "new" }] },
  ],
};
const metadata = { name: "p", namespace: "a", uid: "u", creationTimestamp: time, labels: { x: "y" } };

test("a node: amounts in their shortest form, labels for selectors", () => {
  deepEqual(nodeMetrics({ metadata: { name: "n", creationTimestamp: time } }, summary), {
    kind: "NodeMetrics",
    apiVersion: "metrics.k8s.io/v1beta1",
    metadata: { name: "n", creationTimestamp: time },
    timestamp: time,
    window: "10s",
    usage: { cpu: "250m", memory: "1Mi" },
  });
});

test("a pod: each container", () => {
  deepEqual(podMetrics({ metadata }, summary), {
    kind: "PodMetrics",
    apiVersion: "metrics.k8s.io/v1beta1",
    metadata: { name: "p", namespace: "a", creationTimestamp: time, labels: { x: "y" } },
    timestamp: time,
    window: "10s",
    containers: [{ name: "c", usage: { cpu: "1234567n", memory: "3000" } }],
  });
});

test("what has not been measured, or not whole, is not told", () => {
  equal(podMetrics({ metadata: { ...metadata, name: "half" } }, summary), undefined);
  equal(podMetrics({ metadata: { ...metadata, namespace: "b" } }, summary), undefined);
  equal(podMetrics({ metadata }, undefined), undefined);
  equal(nodeMetrics({ metadata: { name: "n" } }, {}), undefined);
  // Until the second look nobody knows what is used of the CPUs just now.
  const first: Summary = { node: { cpu: { time }, memory: { workingSetBytes: 1 } } };
  equal(nodeMetrics({ metadata: { name: "n" } }, first), undefined);
  deepEqual([isMeasured(first), isMeasured(summary), isMeasured({ node: used(1, 1), pods: summary.pods!.slice(0, 1) })], [false, false, true]);
});
