/** What a node and its pods use at one moment, put together for the server: from the machine, the runtime and what the workers know. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import { runtimeLabels } from "../pod-sync/runtime-names.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import type { ContainerStats, PodSandboxStats } from "../runtime/cri-messages.ts";
import type { ClaimUsage, DiskUsage, InterfaceUsage, NodeUsage, PodUsage, UsageSource } from "./usage.ts";

export interface StatsSnapshot {
  readonly atMs: number;
  readonly nodeName: string;
  readonly startedMs: number;
  readonly node: NodeUsage;
  readonly nodeCpu: CpuSample;
  readonly pods: readonly PodSample[];
}

export interface PodSample {
  readonly pod: DeepReadonly<Pod>;
  readonly containers: readonly ContainerSample[];
  readonly cpu: CpuSample;
  readonly memory: MemorySample;
  readonly network?: readonly InterfaceUsage[];
  readonly processes?: number;
  /** Absent when disks were not asked for. */
  readonly volumes?: readonly (DiskUsage & { readonly name: string })[];
  readonly claims?: readonly ClaimUsage[];
}

export interface ContainerSample {
  readonly name: string;
  readonly id: string;
  readonly image: string;
  readonly startedMs: number;
  readonly cpu: CpuSample;
  readonly memory: MemorySample;
  readonly rootfs?: DiskUsage;
  readonly logs?: DiskUsage;
}

export interface CpuSample {
  readonly atMs: number;
  readonly nanoSeconds: number;
  /** Used just now; not known until there are two samples. */
  readonly nanoCores: number | undefined;
}

export interface MemorySample {
  readonly atMs: number;
  readonly usageBytes: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

export interface SnapshotOptions {
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  readonly usage: UsageSource;
  readonly clock: Clock;
  workers(): Iterable<PodWorker>;
}

/** Takes snapshots; remembers the last sample of each CPU counter, of what still runs. */
export class StatsCollector {
  readonly #options: SnapshotOptions;
  readonly #startedMs: number;
  #samples = new Map<string, CpuSample>();

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#startedMs = options.clock.nowMs();
  }

  /** `withDisk`: also what volumes, logs and layers take, which is dear to measure. */
  async take({ withDisk }: { withDisk: boolean }, signal: AbortSignal): Promise<StatsSnapshot> {
    const { nodeName, runtime, usage, clock } = this.#options;
    const [node, containers, sandboxes, disks] = await Promise.all([
      usage.node(signal),
      runtime.listContainerStats(undefined, signal),
      runtime.listPodSandboxStats(undefined, signal).catch(() => []),
      withDisk ? usage.pods(signal) : new Map<string, PodUsage>(),
    ]);
    const before = this.#samples;
    this.#samples = new Map();
    const atMs = clock.nowMs();
    const pods = [...this.#options.workers()]
      .filter(({ runtime: seen }) => seen.containers.length > 0)
      .map((worker) => this.#pod(worker, { containers, sandboxes, disks, before, atMs }));
    const { cpuNanoSeconds: nanoSeconds } = node;
    // A machine that is only pretended uses what its pods use.
    const nodeCpu = nanoSeconds === undefined ? totalCpu(pods, atMs) : this.#sample("", before, { atMs, nanoSeconds });
    return { atMs, nodeName, startedMs: this.#startedMs, node, nodeCpu, pods };
  }

  #pod(worker: PodWorker, parts: SampleParts): PodSample {
    const { disks, before, atMs } = parts;
    const { pod } = worker;
    const ofPod = ({ labels }: ContainerStats["attributes"]) => labels[runtimeLabels.podUid] === worker.uid;
    const disk = disks.get(worker.uid);
    const containers = parts.containers
      .filter(({ attributes }) => ofPod(attributes))
      .flatMap((stats) => this.#container(worker, stats, { disk, before, atMs }));
    const sandbox = parts.sandboxes.find(({ attributes }) => attributes.metadata.uid === worker.uid)?.linux;
    const sum = <K extends keyof MemorySample>(member: K) => containers.reduce((total, { memory }) => total + memory[member], 0);
    const network = sandbox?.network;
    const interfaces =
      network === undefined ? undefined : [...(network.default_interface === undefined ? [] : [network.default_interface]), ...network.interfaces];
    const processes = sandbox?.process?.process_count?.value ?? disk?.processes;
    return {
      pod,
      containers,
      cpu: totalCpu(containers, atMs),
      memory: {
        atMs,
        usageBytes: sum("usageBytes"),
        workingSetBytes: sum("workingSetBytes"),
        rssBytes: sum("rssBytes"),
        pageFaults: sum("pageFaults"),
        majorPageFaults: sum("majorPageFaults"),
      },
      ...(interfaces !== undefined && interfaces.length > 0 && { network: interfaces.map(interfaceUsage) }),
      ...(processes !== undefined && { processes }),
      ...(disk !== undefined && { volumes: disk.volumes, ...(disk.claims !== undefined && { claims: disk.claims }) }),
    };
  }

  #container(
    worker: PodWorker,
    { attributes, cpu, memory, writable_layer: layer }: ContainerStats,
    { disk, before, atMs }: Pick<SampleParts, "before" | "atMs"> & { disk: PodUsage | undefined },
  ): ContainerSample[] {
    const known = worker.runtime.containers.find(({ id }) => id === attributes.id);
    if (known === undefined || known.status.state !== "CONTAINER_RUNNING") return [];
    const cpuAtMs = (cpu?.timestamp ?? 0) === 0 ? atMs : cpu!.timestamp / 1e6;
    const sampled = this.#sample(attributes.id, before, { atMs: cpuAtMs, nanoSeconds: cpu?.usage_core_nano_seconds?.value ?? 0 });
    const logs = disk?.containers.find(({ name }) => name === known.name)?.logs;
    return [
      {
        name: known.name,
        id: attributes.id,
        image: known.status.image.image,
        startedMs: known.status.started_at / 1e6,
        cpu: { ...sampled, nanoCores: cpu?.usage_nano_cores?.value ?? sampled.nanoCores },
        memory: {
          atMs: (memory?.timestamp ?? 0) === 0 ? atMs : memory!.timestamp / 1e6,
          usageBytes: memory?.usage_bytes?.value ?? 0,
          workingSetBytes: memory?.working_set_bytes?.value ?? 0,
          rssBytes: memory?.rss_bytes?.value ?? 0,
          pageFaults: memory?.page_faults?.value ?? 0,
          majorPageFaults: memory?.major_page_faults?.value ?? 0,
        },
        ...(layer !== undefined && { rootfs: { bytes: layer.used_bytes?.value ?? 0, inodes: layer.inodes_used?.value ?? 0 } }),
        ...(logs !== undefined && { logs }),
      },
    ];
  }

  /** With what was used since the sample before. */
  #sample(key: string, before: ReadonlyMap<string, CpuSample>, { atMs, nanoSeconds }: Omit<CpuSample, "nanoCores">): CpuSample {
    const last = before.get(key);
    // A counter read twice within the same moment tells nothing new.
    const sample =
      last !== undefined && atMs - last.atMs < minIntervalMs
        ? last
        : {
            atMs,
            nanoSeconds,
            nanoCores:
              last === undefined || nanoSeconds < last.nanoSeconds ? undefined : Math.round(((nanoSeconds - last.nanoSeconds) * 1000) / (atMs - last.atMs)),
          };
    this.#samples.set(key, sample);
    return sample;
  }
}

/** Of all together; what is used just now is known when it is of each. */
export function totalCpu(parts: readonly { readonly cpu: CpuSample }[], atMs: number): CpuSample {
  const isKnown = parts.every(({ cpu }) => cpu.nanoCores !== undefined);
  return {
    atMs,
    nanoSeconds: parts.reduce((total, { cpu }) => total + cpu.nanoSeconds, 0),
    nanoCores: isKnown ? parts.reduce((total, { cpu }) => total + (cpu.nanoCores ?? 0), 0) : undefined,
  };
}

const minIntervalMs = 500;

interface SampleParts {
  readonly containers: readonly ContainerStats[];
  readonly sandboxes: readonly PodSandboxStats[];
  readonly disks: ReadonlyMap<string, PodUsage>;
  readonly before: ReadonlyMap<string, CpuSample>;
  readonly atMs: number;
}

type CriInterface = NonNullable<NonNullable<NonNullable<PodSandboxStats["linux"]>["network"]>["default_interface"]>;

function interfaceUsage({ name, rx_bytes, rx_errors, tx_bytes, tx_errors }: CriInterface): InterfaceUsage {
  return { name, rxBytes: rx_bytes?.value ?? 0, rxErrors: rx_errors?.value ?? 0, txBytes: tx_bytes?.value ?? 0, txErrors: tx_errors?.value ?? 0 };
}
