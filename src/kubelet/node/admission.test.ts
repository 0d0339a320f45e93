import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod, PodSpec } from "../../api/core-v1/types.ts";
import { judgeAdmission } from "./admission.ts";
import { planPreemption } from "./preemption.ts";

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
  ["an allowed sysctl", { securityContext: { sysctls: [{ name: "kernel/shmmax", value: "1" }] } }, undefined],
  [
    "an allowed one of the node's own",
    { hostIPC: true, securityContext: { sysctls: [{ name: "kernel.shmmax", value: "1" }] } },
    "SysctlForbidden",
    'forbidden sysctl: "kernel.shmmax" not allowed with host ipc enabled',
  ],
  [
    "a sysctl of the node's network",
    { hostNetwork: true, securityContext: { sysctls: [{ name: "net.core.somaxconn", value: "1" }] } },
    "SysctlForbidden",
    'forbidden sysctl: "net.core.somaxconn" not allowed with host net enabled',
  ],
  ["a safe sysctl", { securityContext: { sysctls: [{ name: "net.ipv4.tcp_syncookies", value: "1" }] } }, undefined],
];
const judge = (spec: Partial<PodSpec>, beside: readonly Pod[]) =>
  judgeAdmission(pod(spec), { node, others: beside, allowedSysctls: ["kernel.shm*", "net.core.somaxconn"] });
for (const [name, spec, reason, message] of table) {
  test(`admission: ${name}`, () => {
    const { fault, shortages } = judge(spec, others);
    const rejection = fault ?? shortages[0]?.rejection;
    assert.equal(rejection?.reason, reason);
    if (message !== undefined) assert.equal(rejection?.message, message);
  });
}

test("admission: too many pods", () => assert.equal(judge({}, [...others, pod({}), pod({})]).shortages[0]?.rejection.reason, "OutOfpods"));

const running = (name: string, qosClass: string, cpu = "0", priority = 0): Pod => ({
  metadata: { name, uid: name },
  spec: { priority, containers: [{ name: "c", resources: { requests: { cpu } } }] },
  status: { qosClass },
});
const preemptions: [name: string, missing: Record<string, number>, running: readonly Pod[], expected: string[] | string][] = [
  ["the smallest that is enough", { cpu: 500 }, [running("a", "Burstable", "2"), running("b", "Burstable", "500m"), running("c", "Burstable", "1")], ["b"]],
  ["two where one is not enough", { cpu: 1500 }, [running("a", "Burstable", "1"), running("b", "Burstable", "500m")], ["a", "b"]],
  ["of a lower class before one of a higher", { cpu: 500 }, [running("a", "Guaranteed", "500m"), running("b", "Burstable", "3")], ["b"]],
  ["of a higher class only for what the lower leaves", { cpu: 2500 }, [running("a", "Guaranteed", "2"), running("b", "Burstable", "1")], ["b", "a"]],
  ["one that asks for nothing where only its place is wanted", { pods: 1 }, [running("a", "Guaranteed", "1"), running("b", "BestEffort")], ["b"]],
  [
    "another critical one stays",
    { cpu: 500, memory: 10 },
    [running("a", "Burstable", "1", 2_000_001_000), running("b", "Burstable", "100m")],
    "no set of running pods found to reclaim resources: [(res: cpu, q: 400), (res: memory, q: 10), ]",
  ],
];
for (const [name, missing, pods, expected] of preemptions) {
  test(`preemption: ${name}`, () => {
    const shortages = Object.entries(missing).map(([resource, amount]) => ({ resource, missing: amount, rejection: { reason: "", message: "" } }));
    const plan = planPreemption(running("critical", "Burstable", "0", 2_000_000_000), shortages, pods);
    assert.deepEqual(plan.outcome === "hopeless" ? plan.message : plan.victims.map(({ metadata }) => metadata.name), expected);
  });
}
