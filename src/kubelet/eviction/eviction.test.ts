import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodSpec } from "../../api/core-v1/types.ts";
import { defaultSettings } from "../configuration/settings.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { NodeUsage, PodUsage } from "../stats/usage.ts";
import { refusedUnderPressure } from "./admission.ts";
import { storageEvictions } from "./local-storage.ts";
import { calm, chooseVictim, planEviction } from "./plan.ts";
import type { EvictionState } from "./plan.ts";
import { rankPods } from "./ranking.ts";
import { thresholdFaults, thresholdsOf } from "./thresholds.ts";
import type { PressureCondition } from "./thresholds.ts";

const Mi = 1024 * 1024;
const Gi = 1024 * Mi;
const disk = { capacityBytes: 100 * Gi, availableBytes: 50 * Gi, usedBytes: 50 * Gi, inodes: 1000, inodesFree: 500 };
const plenty: NodeUsage = {
  memory: { capacityBytes: 8 * Gi, availableBytes: 4 * Gi },
  nodefs: disk,
  imagefs: disk,
  isOneFilesystem: true,
  processes: { max: 1000, running: 10 },
};
const withMemory = (availableBytes: number): NodeUsage => ({ ...plenty, memory: { capacityBytes: 8 * Gi, availableBytes } });
const settingsOf = (settings: Partial<KubeletSettings>): KubeletSettings => ({ ...defaultSettings, ...settings });

const pod = (name: string, spec: Partial<PodSpec> = {}, annotations: Record<string, string> = {}): Pod => ({
  metadata: { name, namespace: "default", uid: name, annotations },
  spec: { containers: [{ name: "c" }], ...spec },
  status: { qosClass: "BestEffort" },
});
const asking = (name: string, memory: string, priority = 0) => pod(name, { priority, containers: [{ name: "c", resources: { requests: { memory } } }] });
const using = (memoryBytes: number): PodUsage => ({ memoryBytes, containers: [{ name: "c", memoryBytes }], volumes: [] });

test("thresholds: the defaults", () => {
  deepEqual(
    thresholdsOf(defaultSettings).map(({ signal, value, graceMs }) => [signal, value.kind === "quantity" ? value.text : value.share, graceMs]),
    [
      ["memory.available", "100Mi", 0],
      ["nodefs.available", 0.1, 0],
      ["nodefs.inodesFree", 0.05, 0],
      ["imagefs.available", 0.15, 0],
      ["imagefs.inodesFree", 0.05, 0],
      ["allocatableMemory.available", "100Mi", 0],
    ],
  );
});

const faults: [name: string, settings: Partial<KubeletSettings>, expected: string[]][] = [
  ["a signal nobody knows", { evictionHard: { "disk.free": "1Gi" } }, ["unknown eviction signal: disk.free"]],
  [
    "a soft one without grace",
    { evictionSoft: { "memory.available": "1Gi" } },
    ["grace period must be specified for the soft eviction threshold memory.available"],
  ],
  ["less than nothing", { evictionHard: { "memory.available": "-1" } }, ["eviction threshold memory.available must be positive: -1"]],
  ["more than all", { evictionHard: { "nodefs.available": "120%" } }, ["eviction percentage threshold nodefs.available must be >= 0% and <= 100%: 120%"]],
  ["zero means never", { evictionHard: { "memory.available": "0%" } }, []],
];
for (const [name, settings, expected] of faults) test(`thresholds: ${name}`, () => deepEqual(thresholdFaults(settingsOf(settings)), expected));

/** Looks at a node's memory every so often; tells conditions and what is reclaimed. */
function course(settings: Partial<KubeletSettings>, looks: readonly (readonly [atSeconds: number, availableMi: number])[]): string[] {
  const all = settingsOf(settings);
  const thresholds = thresholdsOf(all).filter(({ signal }) => signal === "memory.available");
  let state: EvictionState = calm;
  return looks.map(([atSeconds, availableMi]) => {
    const plan = planEviction(state, {
      thresholds,
      usage: withMemory(availableMi * Mi),
      nowMs: atSeconds * 1000,
      transitionMs: all.evictionPressureTransitionMs,
    });
    state = plan.state;
    return `${atSeconds} ${state.conditions.join()} ${plan.reclaim?.resource ?? "-"}`;
  });
}

test("a hard threshold acts at once; the condition stays for the transition period", () => {
  deepEqual(
    course({}, [
      [0, 200],
      [10, 99],
      [20, 101],
      [309, 200],
      [310, 200],
    ]),
    ["0  -", "10 MemoryPressure memory", "20 MemoryPressure -", "309 MemoryPressure -", "310  -"],
  );
});

test("a soft threshold shows its condition at once and acts after its grace, counted anew after each recovery", () => {
  const soft = {
    evictionHard: {},
    evictionSoft: { "memory.available": "1Gi" },
    evictionSoftGracePeriod: { "memory.available": "30s" },
    evictionPressureTransitionMs: 0,
  };
  deepEqual(
    course(soft, [
      [0, 1000],
      [20, 1000],
      [25, 2000],
      [30, 1000],
      [60, 1000],
    ]),
    ["0 MemoryPressure -", "20 MemoryPressure -", "25  -", "30 MemoryPressure -", "60 MemoryPressure memory"],
  );
});

test("reclaiming goes on until the least to reclaim is reached", () => {
  const settings = { evictionHard: { "memory.available": "100Mi" }, evictionMinimumReclaim: { "memory.available": "400Mi" } };
  deepEqual(
    course(settings, [
      [0, 300],
      [10, 90],
      [20, 300],
      [30, 500],
      [40, 300],
    ]),
    ["0  -", "10 MemoryPressure memory", "20 MemoryPressure memory", "30 MemoryPressure -", "40 MemoryPressure -"],
  );
});

test("memory comes before disk", () => {
  const usage = { ...withMemory(1 * Mi), nodefs: { ...disk, availableBytes: 1 } };
  const plan = planEviction(calm, { thresholds: thresholdsOf(defaultSettings), usage, nowMs: 0, transitionMs: 0 });
  equal(plan.reclaim?.signal, "memory.available");
  deepEqual([...plan.state.conditions].toSorted(), ["DiskPressure", "MemoryPressure"]);
});

const orders: [name: string, pods: Pod[], usage: Record<string, number>, expected: string][] = [
  [
    "who uses more than it asked for goes first, whatever its priority",
    [asking("within", "2Gi"), asking("beyond", "1Gi", 1000)],
    { within: Gi, beyond: 1.5 * Gi },
    "beyond,within",
  ],
  ["then the lower priority", [asking("high", "1Gi", 10), asking("low", "1Gi", 1)], { high: 3 * Gi, low: 2 * Gi }, "low,high"],
  ["then who is further above its request", [asking("a", "1Gi"), asking("b", "100Mi")], { a: 2 * Gi, b: 1.5 * Gi }, "b,a"],
  ["who was not measured goes before all", [asking("a", "1Gi"), asking("unknown", "1Gi")], { a: 4 * Gi }, "unknown,a"],
];
for (const [name, pods, usage, expected] of orders) {
  test(`ranking: ${name}`, () => {
    const ranked = rankPods("memory.available", {
      pods,
      usage: new Map(Object.entries(usage).map(([uid, bytes]) => [uid, using(bytes)])),
      isOneFilesystem: true,
    });
    equal(ranked.map(({ metadata }) => metadata.name).join(), expected);
  });
}

test("the victim is told why, to the letter; critical pods are passed over", () => {
  const { reclaim } = planEviction(calm, { thresholds: thresholdsOf(defaultSettings), usage: withMemory(50 * Mi), nowMs: 0, transitionMs: 0 });
  const critical = pod("critical", { priority: 2_000_000_000 });
  const mirror = pod("mirror", {}, { "kubernetes.io/config.mirror": "h" });
  const podUsage = new Map([
    ["critical", using(6 * Gi)],
    ["mirror", using(6 * Gi)],
    ["p", using(2 * Gi)],
  ]);
  const parts = { podUsage, isOneFilesystem: true, maxGraceSeconds: 0 };
  const victim = chooseVictim(reclaim!, { ...parts, pods: [critical, mirror, asking("p", "1Gi")] });
  equal(
    victim?.message,
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container c was using 2Gi, request is 1Gi, has larger consumption of memory. ",
  );
  deepEqual(victim?.annotations, { offending_containers: "c", offending_containers_usage: "2Gi", starved_resource: "memory" });
  equal(victim?.graceSeconds, 1);
  equal(chooseVictim(reclaim!, { ...parts, pods: [critical, mirror] }), undefined);
});

test("a share of the capacity is told as an amount", () => {
  const usage = { ...plenty, nodefs: { ...disk, availableBytes: 9 * Gi }, imagefs: { ...disk, availableBytes: 50 * Gi } };
  const { reclaim } = planEviction(calm, { thresholds: thresholdsOf(defaultSettings), usage, nowMs: 0, transitionMs: 0 });
  const stats: PodUsage = { containers: [{ name: "c", rootfs: { bytes: 36 * 1024, inodes: 1 }, logs: { bytes: 0, inodes: 1 } }], volumes: [] };
  const victim = chooseVictim(reclaim!, { pods: [pod("p")], podUsage: new Map([["p", stats]]), isOneFilesystem: false, maxGraceSeconds: 0 });
  equal(
    victim?.message,
    "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. Container c was using 36Ki, request is 0, has larger consumption of ephemeral-storage. ",
  );
});

const limited = (limit: string) => pod("p", { containers: [{ name: "c", resources: { limits: { "ephemeral-storage": limit } } }] });
const written = (rootfs: number, logs: number, volume = 0): PodUsage => ({
  containers: [{ name: "c", rootfs: { bytes: rootfs, inodes: 1 }, logs: { bytes: logs, inodes: 1 } }],
  volumes: [{ name: "v", bytes: volume, inodes: 1 }],
});
const storage: [name: string, pod: Pod, usage: PodUsage, message: string | undefined][] = [
  [
    "an emptyDir",
    pod("p", { volumes: [{ name: "v", emptyDir: { sizeLimit: "1Mi" } }] }),
    written(0, 0, 2 * Mi),
    'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
  ],
  ["an emptyDir within its limit", pod("p", { volumes: [{ name: "v", emptyDir: { sizeLimit: "2Mi" } }] }), written(0, 0, 2 * Mi), undefined],
  ["the pod by its volumes", limited("1Mi"), written(0, 0, 2 * Mi), "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. "],
  [
    "a container beside one without a limit",
    pod("p", {
      containers: [
        { name: "c", resources: { limits: { "ephemeral-storage": "1Mi" } } },
        { name: "d", resources: { limits: { "ephemeral-storage": "9Mi" } } },
      ],
    }),
    written(1 * Mi, 1 * Mi),
    'Container c exceeded its local ephemeral storage limit "1Mi". ',
  ],
];
for (const [name, subject, usage, message] of storage) {
  test(`local storage: ${name}`, () =>
    deepEqual(
      storageEvictions([subject], new Map([["p", usage]]), { isOneFilesystem: true }).map((eviction) => eviction.message),
      message === undefined ? [] : [message],
    ));
}

const tolerant = pod("p", { tolerations: [{ key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" }] });
const burstable: Pod = { ...pod("p"), status: { qosClass: "Burstable" } };
const admissions: [name: string, pod: Pod, conditions: PressureCondition[], message: string | undefined][] = [
  ["no pressure", pod("p"), [], undefined],
  ["memory, and it asks for none", pod("p"), ["MemoryPressure"], "The node had condition: [MemoryPressure]. "],
  ["memory, and it asks for some", burstable, ["MemoryPressure"], undefined],
  ["memory, tolerated", tolerant, ["MemoryPressure"], undefined],
  ["disk", burstable, ["DiskPressure"], "The node had condition: [DiskPressure]. "],
  ["both", tolerant, ["MemoryPressure", "DiskPressure"], "The node had condition: [MemoryPressure DiskPressure]. "],
  ["disk, but critical", pod("p", { priority: 2_000_000_000 }), ["DiskPressure"], undefined],
];
for (const [name, subject, conditions, message] of admissions)
  test(`admission under pressure: ${name}`, () => equal(refusedUnderPressure(subject, conditions)?.message, message));
