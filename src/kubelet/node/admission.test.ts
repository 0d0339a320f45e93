import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod, PodSpec } from "../../api/core-v1/types.ts";
import { admitPod } from "./admission.ts";

const node: Node = {
  metadata: { name: "n1", labels: { zone: "a" } },
  spec: { taints: [{ key: "k", value: "v", effect: "NoExecute" }] },
  status: { allocatable: { cpu: "4", memory: "8Gi", pods: "3" } },
};
const tolerations = [{ key: "k", operator: "Exists" }];
const pod = (spec: Partial<PodSpec>): Pod => ({ metadata: { name: "p", uid: "p" }, spec: { tolerations, containers: [{ name: "c" }], ...spec } });
const others = [pod({ containers: [{ name: "c", resources: { requests: { cpu: "1500m" } }, ports: [{ containerPort: 80, hostPort: 8080 }] }] })];

const table: [name: string, spec: Partial<PodSpec>, reason: string | undefined, message?: string][] = [
  ["fits", {}, undefined],
  [
    "too much cpu",
    { containers: [{ name: "c", resources: { requests: { cpu: "3" } } }] },
    "OutOfcpu",
    "Node didn't have enough resource: cpu, requested: 3000, used: 1500, capacity: 4000",
  ],
  ["init containers count by the largest", { initContainers: [{ name: "i", resources: { requests: { cpu: "3" } } }] }, "OutOfcpu"],
  ["an extended resource nobody knows", { containers: [{ name: "c", resources: { requests: { "example.com/x": "1" } } }] }, undefined],
  [
    "another node's selector",
    { nodeSelector: { zone: "b" } },
    "NodeAffinity",
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  ],
  ["a taken port", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 8080 }] }] }, "NodePorts"],
  ["the port over UDP", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 8080, protocol: "UDP" }] }] }, undefined],
  ["no toleration", { tolerations: [] }, "TaintToleration"],
  [
    "a sysctl",
    { securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } },
    "SysctlForbidden",
    'forbidden sysctl: "kernel.msgmax" not allowlisted',
  ],
  ["a safe sysctl", { securityContext: { sysctls: [{ name: "net.ipv4.tcp_syncookies", value: "1" }] } }, undefined],
];
for (const [name, spec, reason, message] of table) {
  test(`admission: ${name}`, () => {
    const rejection = admitPod(pod(spec), node, others);
    assert.equal(rejection?.reason, reason);
    if (message !== undefined) assert.equal(rejection?.message, message);
  });
}

test("admission: too many pods", () => assert.equal(admitPod(pod({}), node, [...others, pod({}), pod({})])?.reason, "OutOfpods"));
