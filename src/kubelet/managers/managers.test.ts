import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "../../base/log.ts";
import type { Container, Pod } from "../../api/core-v1/types.ts";
import { defaultSettings } from "../configuration/settings.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import { takeCpus } from "./cpu-choice.ts";
import { CpuManager } from "./cpu-manager.ts";
import { formatCpuSet, parseCpuSet } from "./cpu-set.ts";
import { plainTopology, readCpuTopology } from "./cpu-topology.ts";
import type { CpuTopology } from "./cpu-topology.ts";
import { MemoryManager } from "./memory-manager.ts";
import { hintsFor, judgeTopology } from "./topology-hints.ts";
import type { Hint, TopologyPolicy } from "./topology-hints.ts";

const Gi = 1024 ** 3;
/** Two sockets, each a NUMA node with two cores of two threads: 0,4 1,5 | 2,6 3,7. */
const topology: CpuTopology = {
  cpus: Array.from({ length: 8 }, (_, id) => ({
    id,
    core: `${Math.floor((id % 4) / 2)}/${id % 4}`,
    socket: Math.floor((id % 4) / 2),
    numaNode: Math.floor((id % 4) / 2),
  })),
  numaNodes: [
    { id: 0, memoryBytes: 4 * Gi },
    { id: 1, memoryBytes: 4 * Gi },
  ],
};

test("lists of CPUs", () => {
  deepEqual(parseCpuSet("0-2,5"), [0, 1, 2, 5]);
  equal(formatCpuSet([0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
  throws(() => parseCpuSet("3-1"));
  throws(() => parseCpuSet("a"));
});

const choices: [name: string, free: string, count: number, near: number[], expected: string | undefined][] = [
  ["a whole socket", "0-7", 4, [], "0-1,4-5"],
  ["a whole core", "0-7", 2, [], "0,4"],
  ["a core and a thread", "0-7", 3, [], "0-1,4"],
  ["a thread of a core that is broken already", "1-7", 1, [], "4"],
  ["the socket that is used already", "1-7", 2, [], "1,5"],
  ["near a NUMA node", "0-7", 2, [1], "2,6"],
  ["as many as there are near, the rest elsewhere", "0-3,7", 4, [1], "0,2-3,7"],
  ["too many", "0-2", 4, [], undefined],
];
for (const [name, free, count, near, expected] of choices) {
  test(`CPUs: ${name}`, () => {
    const taken = takeCpus(topology, parseCpuSet(free), count, near);
    equal(taken === undefined ? undefined : formatCpuSet(taken), expected);
  });
}

const pod = (uid: string, containers: Container[], initContainers: Container[] = [], qosClass = "Guaranteed"): Pod => ({
  metadata: { name: uid, uid },
  spec: { containers, initContainers },
  status: { qosClass },
});
const asking = (name: string, cpu: string, memory = "1Gi"): Container => ({ name, resources: { requests: { cpu, memory }, limits: { cpu, memory } } });
const settingsOf = (more: Partial<KubeletSettings>): KubeletSettings => ({ ...defaultSettings, cpuManagerPolicy: "static", ...more });
const manager = (more: Partial<KubeletSettings> = {}, path?: string) =>
  new CpuManager({ topology, settings: settingsOf(more), reservedMilliCpus: 1000, path, log: silentLog });
const anywhere = () => undefined;

test("CPU manager: whole CPUs of guaranteed pods are theirs alone, all others share the rest", () => {
  const cpus = manager();
  equal(cpus.admit(pod("a", [asking("c", "2"), asking("half", "500m")]), anywhere), undefined);
  equal(cpus.cpusOf("a", "c"), "1,5");
  equal(cpus.cpusOf("a", "half"), "0,2-4,6-7");
  equal(cpus.admit(pod("b", [asking("c", "2")], [], "Burstable"), anywhere), undefined);
  equal(cpus.cpusOf("b", "c"), "0,2-4,6-7");
  equal(
    cpus.admit(pod("d", [asking("c", "6")]), anywhere)?.message,
    "Allocate failed due to not enough cpus available to satisfy request: requested=6, available=5, which is unexpected",
  );
  cpus.release("a");
  equal(cpus.cpusOf("b", "c"), "0-7");
});

test("CPU manager: containers take over what init containers had", () => {
  const cpus = manager();
  equal(cpus.admit(pod("a", [asking("c", "4")], [asking("i", "4")]), anywhere), undefined);
  equal(cpus.cpusOf("a", "i"), cpus.cpusOf("a", "c"));
});

test("CPU manager: options", () => {
  equal(
    manager({ cpuManagerPolicyOptions: { "full-pcpus-only": "true" } }).admit(pod("a", [asking("c", "3")]), anywhere)?.message,
    "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
  );
  equal(formatCpuSet(manager({ cpuManagerPolicyOptions: { "strict-cpu-reservation": "true" }, reservedSystemCPUs: "0,4" }).shared), "1-3,5-7");
  throws(
    () => new CpuManager({ topology, settings: settingsOf({}), reservedMilliCpus: 0, path: undefined, log: silentLog }),
    /requires systemreserved\.cpu \+ kubereserved\.cpu to be greater than zero/,
  );
});

test("CPU manager: who has which CPUs outlives the kubelet; another policy does not take over", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coracle-cpus-"));
  try {
    const path = join(directory, "cpu_manager_state");
    const before = manager({}, path);
    await before.load();
    before.admit(pod("a", [asking("c", "2")]), anywhere);
    await before.settled();
    const after = manager({}, path);
    await after.load();
    equal(after.cpusOf("a", "c"), "1,5");
    await after.settled();
    await rejects(
      manager({ cpuManagerPolicy: "none" }, path).load(),
      /configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file/,
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("memory manager: a node that has room, two where one does not do, none when there is none", () => {
  const reservedMemory = [
    { numaNode: 0, limits: { memory: "1Gi" } },
    { numaNode: 1, limits: { memory: "1Gi" } },
  ];
  const memory = new MemoryManager({ topology, settings: settingsOf({ memoryManagerPolicy: "Static", reservedMemory }), path: undefined, log: silentLog });
  const admit = (uid: string, amount: string) => memory.admit(pod(uid, [asking("c", "1", amount)]), anywhere)?.reason ?? memory.nodesOf(uid, "c");
  deepEqual([admit("a", "2Gi"), admit("b", "2Gi"), admit("e", "5Gi")], ["0", "1", "UnexpectedAdmissionError"]);
  memory.release("a");
  memory.release("b");
  deepEqual([admit("f", "5Gi"), admit("g", "2Gi")], ["0-1", "UnexpectedAdmissionError"]);
});

test("hints: the fewest nodes that could do are preferred, when they are free", () => {
  const text = (hints: readonly Hint[]) => hints.map(({ nodes, isPreferred }) => `${nodes.join("")}${isPreferred ? "!" : ""}`).join(" ");
  equal(
    text(
      hintsFor(2, [
        { id: 0, total: 4, free: 4 },
        { id: 1, total: 4, free: 1 },
      ]),
    ),
    "0! 01",
  );
  equal(
    text(
      hintsFor(2, [
        { id: 0, total: 4, free: 1 },
        { id: 1, total: 4, free: 1 },
      ]),
    ),
    "01",
  );
  equal(
    text(
      hintsFor(6, [
        { id: 0, total: 4, free: 4 },
        { id: 1, total: 4, free: 4 },
      ]),
    ),
    "01!",
  );
});

const near0: Hint[] = [
  { nodes: [0], isPreferred: true },
  { nodes: [0, 1], isPreferred: false },
];
const near1: Hint[] = [
  { nodes: [1], isPreferred: true },
  { nodes: [0, 1], isPreferred: false },
];
const verdicts: [policy: TopologyPolicy, offers: (Hint[] | undefined)[], expected: string][] = [
  ["none", [[]], "true -"],
  ["best-effort", [near0, near0], "true 0"],
  ["best-effort", [near0, near1], "true 0"],
  ["best-effort", [near0, undefined], "true 0"],
  ["restricted", [near0, near1], "false 0"],
  ["restricted", [near0, near0], "true 0"],
  ["single-numa-node", [near0, near1], "false -"],
  ["single-numa-node", [near1, near1], "true 1"],
  ["restricted", [undefined], "true -"],
];
for (const [policy, offers, expected] of verdicts) {
  test(`topology ${policy}: ${expected}`, () => {
    const { isAdmitted, near } = judgeTopology(policy, offers, [0, 1]);
    equal(`${isAdmitted} ${near?.join("") ?? "-"}`, expected);
  });
}

test("the machine's topology is read from the kernel's files", async () => {
  const root = await mkdtemp(join(tmpdir(), "coracle-sys-"));
  try {
    const put = async (path: string, text: string) => {
      await mkdir(join(root, path, ".."), { recursive: true });
      await writeFile(join(root, path), text);
    };
    await put("cpu/online", "0-1\n");
    for (const cpu of [0, 1]) {
      await put(`cpu/cpu${cpu}/topology/core_id`, "7\n");
      await put(`cpu/cpu${cpu}/topology/physical_package_id`, "1\n");
    }
    await put("node/node0/cpulist", "0-1\n");
    await put("node/node0/meminfo", "Node 0 MemTotal:       1024 kB\n");
    deepEqual(await readCpuTopology({ cpus: 9, memoryBytes: 9 }, root), {
      cpus: [0, 1].map((id) => ({ id, core: "1/7", socket: 1, numaNode: 0 })),
      numaNodes: [{ id: 0, memoryBytes: 1024 * 1024 }],
    });
    deepEqual(await readCpuTopology({ cpus: 1, memoryBytes: 5 }, join(root, "nowhere")), plainTopology({ cpus: 1, memoryBytes: 5 }));
  } finally {
    await rm(root, { recursive: true });
  }
  match(formatCpuSet((await readCpuTopology({ cpus: 1, memoryBytes: 1 })).cpus.map(({ id }) => id)), /^\d/);
});
