/** What this machine and the pods on it use: from /proc, the file systems, the runtime and pods' folders. */
import { readFile, statfs } from "node:fs/promises";
import { freemem, totalmem } from "node:os";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { logDirectory } from "../pod-sync/sandbox-config.ts";
import { containersOf, runtimeLabels } from "../pod-sync/runtime-names.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import type { ContainerStats } from "../runtime/cri-messages.ts";
import type { PodStorage } from "../volumes/pod-storage.ts";
import type { DiskMeter } from "./disk-meter.ts";
import type { ClaimUsage, ContainerUsage, FilesystemLevel, InterfaceUsage, MemoryLevel, NodeUsage, PodUsage, UsageSource } from "./usage.ts";

export interface MachineUsageOptions {
  readonly runtime: ContainerRuntime;
  readonly storage: PodStorage;
  readonly meter: DiskMeter;
  /** Where volumes and logs lie. */
  readonly root: string;
  readonly logRoot: string;
  /** What all pods may have together; 0: not known. */
  readonly podsMemoryBytes: number;
  pods(): readonly DeepReadonly<Pod>[];
  /** For tests; default `/proc`. */
  readonly procRoot?: string;
}

export function machineUsage(options: MachineUsageOptions): UsageSource {
  return {
    node: async (signal) => {
      const proc = options.procRoot ?? "/proc";
      const [meminfo, processes, nodefs, imageRoot, stats, cpu, network] = await Promise.all([
        readFile(`${proc}/meminfo`, "utf8").catch(() => undefined),
        readProcesses(proc).catch(() => ({ max: 0, running: 0 })),
        filesystem(options.root),
        imageMountPoint(options.runtime, signal),
        options.runtime.listContainerStats(undefined, signal).catch(() => []),
        readFile(`${proc}/stat`, "utf8").catch(() => undefined),
        readFile(`${proc}/net/dev`, "utf8").catch(() => undefined),
      ]);
      const imagefs = imageRoot === undefined ? nodefs : await filesystem(imageRoot).catch(() => nodefs);
      const allocatable = podsMemory(options.podsMemoryBytes, stats);
      const usage: NodeUsage = {
        memory: meminfo === undefined ? plainMemory() : parseMemory(meminfo),
        nodefs: nodefs.level,
        imagefs: imagefs.level,
        isOneFilesystem: nodefs.id === imagefs.id,
        processes,
        ...(cpu !== undefined && { cpuNanoSeconds: parseCpu(cpu) }),
        ...(network !== undefined && { network: parseInterfaces(network) }),
      };
      return allocatable === undefined ? usage : { ...usage, allocatableMemory: allocatable };
    },
    pods: async (signal) => {
      const [stats, sandboxes] = await Promise.all([
        options.runtime.listContainerStats(undefined, signal),
        options.runtime.listPodSandboxStats(undefined, signal).catch(() => []),
      ]);
      const processes = new Map(sandboxes.map(({ attributes, linux }) => [attributes.metadata.uid, linux?.process?.process_count?.value]));
      const found = await Promise.all(options.pods().map(async (pod) => [pod.metadata.uid ?? "", await podUsage(options, pod, stats, processes)] as const));
      return new Map(found);
    },
  };
}

/** What the kernel can give without writing anything away: free, and clean pages of files long unused. */
export function parseMemory(meminfo: string): MemoryLevel {
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(meminfo)?.[1] ?? 0) * 1024;
  return { capacityBytes: bytes("MemTotal"), availableBytes: bytes("MemFree") + bytes("Inactive\\(file\\)") };
}

/** Time of all CPUs that was not idle (proc_stat(5)), in nanoseconds; the kernel counts hundredths of seconds. */
export function parseCpu(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (/^cpu\s+(.*)$/m.exec(stat)?.[1] ?? "").split(" ").map(Number);
  return (user + nice + system + irq + softirq + steal) * 10_000_000;
}

/** What came and went, by interface, `eth0` first where there is one; without the loopback and those of pods (proc_net_dev). */
export function parseInterfaces(dev: string): InterfaceUsage[] {
  return [...dev.matchAll(/^\s*([^:\s]+):\s*(.+)$/gm)]
    .map(([, name = "", numbers = ""]) => {
      const [rxBytes = 0, , rxErrors = 0, , , , , , txBytes = 0, , txErrors = 0] = numbers.trim().split(/\s+/).map(Number);
      return { name, rxBytes, rxErrors, txBytes, txErrors };
    })
    .filter(({ name }) => !/^(?:lo$|veth|docker|nerdctl|ifb|cor-)/.test(name))
    .toSorted((a, b) => Number(b.name === "eth0") - Number(a.name === "eth0"));
}

/** Where there is no /proc. */
const plainMemory = (): MemoryLevel => ({ capacityBytes: totalmem(), availableBytes: freemem() });

async function readProcesses(proc: string): Promise<NodeUsage["processes"]> {
  const number = async (path: string) => Number(await readFile(`${proc}/${path}`, "utf8"));
  const [pidMax, threadsMax, load] = await Promise.all([number("sys/kernel/pid_max"), number("sys/kernel/threads-max"), readFile(`${proc}/loadavg`, "utf8")]);
  // The fourth field: runnable/all.
  return { max: Math.min(pidMax, threadsMax), running: Number(/\/(\d+)/.exec(load)?.[1] ?? 0) };
}

async function filesystem(path: string): Promise<{ level: FilesystemLevel; id: string }> {
  const { bsize, blocks, bavail, bfree, files, ffree, type } = await statfs(path);
  // statfs tells no device; two that are alike in all of this are one.
  return {
    level: { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, usedBytes: (blocks - bfree) * bsize, inodes: files, inodesFree: ffree },
    id: [type, blocks, bsize, files].join(),
  };
}

async function imageMountPoint(runtime: ContainerRuntime, signal: AbortSignal): Promise<string | undefined> {
  const info = await runtime.imageFsInfo(signal).catch(() => undefined);
  const mountpoint = info?.image_filesystems[0]?.fs_id?.mountpoint ?? "";
  return mountpoint === "" ? undefined : mountpoint;
}

function podsMemory(capacityBytes: number, stats: readonly ContainerStats[]): MemoryLevel | undefined {
  if (capacityBytes === 0) return undefined;
  const used = stats.reduce((sum, { memory }) => sum + (memory?.working_set_bytes?.value ?? 0), 0);
  return { capacityBytes, availableBytes: Math.max(0, capacityBytes - used) };
}

async function podUsage(
  options: MachineUsageOptions,
  pod: DeepReadonly<Pod>,
  all: readonly ContainerStats[],
  processes: ReadonlyMap<string, number | undefined>,
): Promise<PodUsage> {
  const { meter, storage } = options;
  const uid = pod.metadata.uid ?? "";
  const own = all.filter(({ attributes }) => attributes.labels[runtimeLabels.podUid] === uid);
  const logs = logDirectory(pod, options.logRoot);
  const containers = await Promise.all(
    own.map(async ({ attributes, memory, writable_layer: layer }): Promise<ContainerUsage> => {
      const name = attributes.labels[runtimeLabels.containerName] ?? attributes.metadata.name;
      return {
        name,
        ...(memory?.working_set_bytes !== undefined && { memoryBytes: memory.working_set_bytes.value }),
        ...(layer !== undefined && { rootfs: { bytes: layer.used_bytes?.value ?? 0, inodes: layer.inodes_used?.value ?? 0 } }),
        logs: await meter.measure(`${logs}/${name}`),
      };
    }),
  );
  const volumes = await Promise.all(
    (pod.spec?.volumes ?? []).filter(isOnDisk).map(async ({ name }) => ({ name, ...(await meter.measure(storage.ready(uid, name)?.path ?? "")) })),
  );
  const claims = await claimUsages(options, pod);
  const measured = containers.filter(({ memoryBytes }) => memoryBytes !== undefined);
  const count = processes.get(uid);
  return {
    containers: containers.filter(({ name }) => containersOf(pod).some(({ container }) => container.name === name)),
    volumes,
    claims,
    ...(measured.length > 0 && { memoryBytes: measured.reduce((sum, { memoryBytes = 0 }) => sum + memoryBytes, 0) }),
    ...(count !== undefined && { processes: count }),
  };
}

async function claimUsages({ meter, storage }: MachineUsageOptions, pod: DeepReadonly<Pod>): Promise<ClaimUsage[]> {
  const uid = pod.metadata.uid ?? "";
  const found = await Promise.all(
    (pod.spec?.volumes ?? []).map(async ({ name, persistentVolumeClaim, ephemeral }): Promise<ClaimUsage[]> => {
      const claimName = persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${pod.metadata.name}-${name}`);
      if (claimName === undefined) return [];
      const filesystem = await meter.keep(`${uid} ${name}`, () => storage.filesystem(uid, name).catch(() => undefined));
      return filesystem === undefined ? [] : [{ name, claimName, filesystem }];
    }),
  );
  return found.flat();
}

/** What pods may write into and the node has to store. */
function isOnDisk({ emptyDir, configMap, secret, downwardAPI, projected }: DeepReadonly<NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]>): boolean {
  if (emptyDir !== undefined) return emptyDir.medium !== "Memory" && !(emptyDir.medium ?? "").startsWith("HugePages");
  return configMap !== undefined || downwardAPI !== undefined || secret !== undefined || projected !== undefined;
}
