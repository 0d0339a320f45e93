/** How the machine's CPUs lie together: threads in cores, cores in sockets and NUMA nodes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseCpuSet } from "./cpu-set.ts";

export interface Cpu {
  readonly id: number;
  /** Of all sockets, no two cores have the same. */
  readonly core: string;
  readonly socket: number;
  readonly numaNode: number;
}

export interface NumaNode {
  readonly id: number;
  readonly memoryBytes: number;
}

export interface CpuTopology {
  readonly cpus: readonly Cpu[];
  readonly numaNodes: readonly NumaNode[];
}

/** Each CPU a core of the one node. */
export function plainTopology({ cpus, memoryBytes }: { readonly cpus: number; readonly memoryBytes: number }): CpuTopology {
  return { cpus: Array.from({ length: cpus }, (_, id) => ({ id, core: `cpu${id}`, socket: 0, numaNode: 0 })), numaNodes: [{ id: 0, memoryBytes }] };
}

/** From `/sys/devices/system`; plain where there is none. */
export async function readCpuTopology(machine: { readonly cpus: number; readonly memoryBytes: number }, root = "/sys/devices/system"): Promise<CpuTopology> {
  const text = async (path: string) => (await readFile(join(root, path), "utf8").catch(() => "")).trim();
  const online = await text("cpu/online");
  const ids = online === "" ? Array.from({ length: machine.cpus }, (_, id) => id) : parseCpuSet(online);
  const nodes = (await readdir(join(root, "node")).catch(() => []))
    .flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
  const members = await Promise.all(nodes.map(async (node) => [node, parseCpuSet(await text(`node/node${node}/cpulist`))] as const));
  const cpus = ids.map(async (id): Promise<Cpu> => {
    const [core, socket] = await Promise.all([text(`cpu/cpu${id}/topology/core_id`), text(`cpu/cpu${id}/topology/physical_package_id`)]);
    return {
      id,
      core: core === "" ? `cpu${id}` : `${socket}/${core}`,
      socket: Math.max(0, Number(socket)),
      numaNode: members.find(([, list]) => list.includes(id))?.[0] ?? 0,
    };
  });
  const numaNodes = nodes.map(async (id): Promise<NumaNode> => ({
    id,
    memoryBytes: Number(/MemTotal:\s+(\d+) kB/.exec(await text(`node/node${id}/meminfo`))?.[1] ?? 0) * 1024,
  }));
  return { cpus: await Promise.all(cpus), numaNodes: nodes.length === 0 ? [{ id: 0, memoryBytes: machine.memoryBytes }] : await Promise.all(numaNodes) };
}

export function threadsPerCore({ cpus }: CpuTopology): number {
  return Math.max(1, Math.floor(cpus.length / Math.max(1, new Set(cpus.map(({ core }) => core)).size)));
}
