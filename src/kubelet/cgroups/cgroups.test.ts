import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../../base/clock.ts";
import type { Cgroups } from "../../host/index.ts";
import type { Pod, ResourceRequirements } from "../../api/core-v1/types.ts";
import { cpuWeight, groupFiles, podGroup, podGroupLimits, qosGroupLimits } from "./cgroup-plan.ts";
import type { GroupLimits } from "./cgroup-plan.ts";
import { PodCgroups } from "./pod-cgroups.ts";

const podOf = (qosClass: string, ...containers: ResourceRequirements[]): Pod => ({
  metadata: { name: "p", namespace: "default", uid: "u" },
  spec: { containers: containers.map((resources, index) => ({ name: `c${index}`, image: "i", resources })) },
  status: { qosClass } as Pod["status"] & object,
});
const full = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });

test("cgroups: where a pod's group is", () => {
  equal(podGroup("/kubepods", podOf("Guaranteed")), "/kubepods/podu");
  equal(podGroup("/kubepods", podOf("Burstable")), "/kubepods/burstable/podu");
  equal(podGroup("/kubepods", podOf("BestEffort")), "/kubepods/besteffort/podu");
});

const limits: [name: string, pod: Pod, expected: GroupLimits][] = [
  ["guaranteed", podOf("Guaranteed", full("500m", "64Mi"), full("1", "1Gi")), { cpuShares: 1536, cpuQuota: 150_000, memoryBytes: 64 * 2 ** 20 + 2 ** 30 }],
  ["burstable, all limited in memory", podOf("Burstable", { limits: { memory: "1Mi" } }), { cpuShares: 2, memoryBytes: 2 ** 20 }],
  ["burstable, one without a limit", podOf("Burstable", { requests: { cpu: "1" }, limits: { memory: "1Mi" } }, {}), { cpuShares: 1024 }],
  ["best effort", podOf("BestEffort", {}), { cpuShares: 2 }],
];
for (const [name, pod, expected] of limits) test(`cgroups: limits of a pod: ${name}`, () => deepEqual(podGroupLimits(pod, -1), expected));

test("cgroups: a limit of processes counts for every pod", () => equal(podGroupLimits(podOf("BestEffort", {}), 100).pids, 100));

test("cgroups: burstable pods weigh what they ask for, the others as little as can be", () => {
  deepEqual(qosGroupLimits("Burstable", [500, 250]), { cpuShares: 768 });
  deepEqual(qosGroupLimits("BestEffort", [500]), { cpuShares: 2 });
});

test("cgroups: the files of either version", () => {
  deepEqual(groupFiles("v1", { cpuShares: 2 }), [
    ["cpu", "cpu.shares", "2"],
    ["cpu", "cpu.cfs_period_us", "100000"],
    ["cpu", "cpu.cfs_quota_us", "-1"],
    ["memory", "memory.limit_in_bytes", "-1"],
    ["pids", "pids.max", "max"],
  ]);
  deepEqual(groupFiles("v2", { cpuShares: 1024, cpuQuota: 50_000, memoryBytes: 1, pids: 2 }), [
    ["cpu", "cpu.weight", "100"],
    ["cpu", "cpu.max", "50000 100000"],
    ["memory", "memory.max", "1"],
    ["pids", "pids.max", "2"],
  ]);
  deepEqual([2, 1024, 262_144].map(cpuWeight), [1, 100, 10_000]);
});

test("cgroups: made with their limits, weighed together, removed, and strangers with them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "cgroups-"));
  try {
    const clock = { ...systemClock(), after: (_delayMs: number, callback: () => void) => (setImmediate(callback), () => {}) };
    const killed: number[] = [];
    // The process leaves its group a moment later.
    const left = join(folder, "k", "burstable", "podu", "cgroup.procs");
    const kill = (pid: number) => void (killed.push(pid), clock.after(0, () => rmSync(left, { force: true })));
    const groups = new PodCgroups({
      cgroups: fileTree(folder),
      root: "/k",
      node: { cpuShares: 2048, memoryBytes: 1000 },
      settings,
      clock,
      log: silentLog,
      kill,
    });
    await groups.start();
    const read = (...names: string[]) => readFile(join(folder, ...names), "utf8");
    equal(await read("k", "memory.max"), "1000");
    const pod = podOf("Burstable", { requests: { cpu: "500m" }, limits: { cpu: "1", memory: "1Mi" } });
    await groups.ensure(pod);
    equal(await read("k", "burstable", "podu", "memory.max"), String(2 ** 20));
    equal(await read("k", "burstable", "podu", "cpu.max"), "100000 100000");
    equal(await read("k", "burstable", "cpu.weight"), String(cpuWeight(512)));
    await groups.loosen(pod);
    equal(await read("k", "burstable", "podu", "memory.max"), "max");
    await mkdir(join(folder, "k", "besteffort", "podstranger", "container"), { recursive: true });
    await groups.removeStrangers((uid) => uid === "u");
    deepEqual(await groupsIn(join(folder, "k", "besteffort")), []);
    deepEqual(await groupsIn(join(folder, "k", "burstable")), ["podu"]);
    await writeFile(left, "7\n");
    await groups.remove(pod);
    equal(killed[0], 7);
    deepEqual(await groupsIn(join(folder, "k", "burstable")), []);
    equal(await read("k", "burstable", "cpu.weight"), "1");
  } finally {
    await rm(folder, { recursive: true });
  }
});

const settings = { podPidsLimit: -1, enforceNodeAllocatable: ["pods"] };

async function groupsIn(directory: string): Promise<string[]> {
  return (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** A hierarchy of version 2 as plain files. */
function fileTree(folder: string): Cgroups {
  return {
    version: "v2",
    controllers: new Set(["cpu", "memory", "pids"]),
    directory: (_controller, group) => join(folder, group),
    create: async (group) => void (await mkdir(join(folder, group), { recursive: true })),
    remove: async (group) => {
      const directory = join(folder, group);
      const names = await readdir(directory);
      if (names.includes("cgroup.procs")) throw Object.assign(new Error("busy"), { code: "EBUSY" });
      for (const name of names) await rm(join(directory, name), { recursive: true });
      await rmdir(directory);
    },
  };
}
