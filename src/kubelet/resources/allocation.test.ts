import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "../../base/log.ts";
import type { Node, Pod, ResourceRequirements } from "../../api/core-v1/types.ts";
import { AllocationStore } from "./allocation-store.ts";
import { actualResources, allocationOf, judgeResize, resizeMessage, withAllocation } from "./allocation.ts";

const node: Node = { metadata: { name: "n1" }, status: { allocatable: { cpu: "4", memory: "4Gi", pods: "10" } } };
const pod = (resources: ResourceRequirements, qosClass = "Burstable"): Pod => ({
  metadata: { name: "p", uid: "p" },
  spec: { containers: [{ name: "c", resources }] },
  status: { qosClass },
});
const small = { requests: { cpu: "1", memory: "1Gi" } };
const none = { cpuManagerPolicy: "none", memoryManagerPolicy: "None" };

const verdicts: [
  name: string,
  wanted: ResourceRequirements,
  more: { qosClass?: string; settings?: typeof none; others?: Pod[] },
  outcome: string,
  message?: string,
][] = [
  ["room", { requests: { cpu: "4", memory: "1Gi" } }, {}, "granted"],
  [
    "more cpu than the node has",
    { requests: { cpu: "5", memory: "1Gi" } },
    {},
    "Infeasible",
    "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000",
  ],
  [
    "more memory than the node has",
    { requests: { cpu: "5", memory: "4500Mi" } },
    {},
    "Infeasible",
    "Node didn't have enough capacity: memory, requested: 4718592000, capacity: 4294967296",
  ],
  [
    "what others have",
    { requests: { cpu: "3" } },
    { others: [pod({ requests: { cpu: "2" } })] },
    "Deferred",
    "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000",
  ],
  [
    "CPUs of its own",
    { requests: { cpu: "2", memory: "1Gi" } },
    { qosClass: "Guaranteed", settings: { ...none, cpuManagerPolicy: "static" } },
    "Infeasible",
    'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
  ],
  [
    "memory of its own",
    { requests: { cpu: "1", memory: "2Gi" } },
    { qosClass: "Guaranteed", settings: { ...none, memoryManagerPolicy: "Static" } },
    "Infeasible",
    'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"',
  ],
  ["shared CPUs beside the static policy", { requests: { cpu: "2", memory: "1Gi" } }, { settings: { ...none, cpuManagerPolicy: "static" } }, "granted"],
];
for (const [name, wanted, { qosClass, settings = none, others = [] }, outcome, message] of verdicts) {
  test(`resize: ${name}`, () => {
    const verdict = judgeResize({ pod: pod(wanted, qosClass), allocation: allocationOf(pod(small)), node, others, settings });
    equal(verdict.outcome, outcome);
    if (verdict.outcome !== "granted") equal(verdict.message, message);
  });
}

test("a pod runs with what it was granted", () => {
  const wanted = pod({ requests: { cpu: "3" } });
  deepEqual(withAllocation(wanted, allocationOf(pod(small))).spec?.containers?.[0]?.resources, small);
  equal(withAllocation(wanted, allocationOf(wanted)), wanted);
  deepEqual(actualResources("2 - - 1Gi", { requests: { cpu: "1", "example.com/x": "1" } }), {
    limits: { memory: "1Gi" },
    requests: { cpu: "2", "example.com/x": "1" },
  });
});

test("events tell amounts as Go prints them", () => {
  equal(
    resizeMessage("Pod resize Deferred", pod({ requests: { memory: "1Gi", cpu: "1" }, limits: { cpu: "2" } }), 3, "no room"),
    'Pod resize Deferred: {"containers":[{"name":"c","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1","memory":"1Gi"}}}],"generation":3,"error":"no room"}',
  );
});

test("allocations outlive the kubelet; a damaged file counts for nothing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coracle-allocations-"));
  try {
    const path = join(directory, "state");
    const before = new AllocationStore({ path, log: silentLog });
    before.set("gone", { allocation: {}, actuated: {} });
    before.set("p", { allocation: { c: small }, actuated: { id: "1 - 1Gi -" } });
    before.remove("gone");
    await before.settled();
    const after = new AllocationStore({ path, log: silentLog });
    await after.load();
    deepEqual([after.get("p"), after.get("gone")], [{ allocation: { c: small }, actuated: { id: "1 - 1Gi -" } }, undefined]);
    await writeFile(path, (await readFile(path, "utf8")).replace("1Gi", "9Gi"));
    const damaged = new AllocationStore({ path, log: silentLog });
    await damaged.load();
    equal(damaged.get("p"), undefined);
  } finally {
    await rm(directory, { recursive: true });
  }
});
