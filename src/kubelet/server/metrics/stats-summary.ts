/** `/stats/summary`: what pods and the node use (kubelet stats API v1alpha1). Pure. */
import { formatTime } from "../../../apimachinery/time.ts";
import { diskUsage } from "../../stats/sums.ts";
import { totalCpu } from "../../stats/snapshot.ts";
import type { ContainerSample, CpuSample, MemorySample, PodSample, StatsSnapshot } from "../../stats/snapshot.ts";
import type { DiskUsage, FilesystemLevel, InterfaceUsage, NodeUsage } from "../../stats/usage.ts";

/** `isBrief`: only CPU and memory. */
export function statsSummary(snapshot: StatsSnapshot, { isBrief }: { isBrief: boolean }): object {
  const { node, nodeCpu, nodeName, startedMs, atMs, pods } = snapshot;
  const time = formatTime(atMs);
  const own = {
    nodeName,
    systemContainers: [{ name: "pods", startTime: formatTime(startedMs), ...podsTotal(pods, atMs) }],
    startTime: formatTime(startedMs),
    cpu: cpuStats(nodeCpu),
    memory: nodeMemory(node, pods, time),
  };
  if (isBrief) return { node: own, pods: pods.map((pod) => podStats(pod, node, { isBrief })) };
  return {
    node: {
      ...own,
      ...(node.network !== undefined && node.network.length > 0 && { network: networkStats(node.network, time) }),
      fs: filesystemStats(node.nodefs, time),
      runtime: { imageFs: filesystemStats(node.imagefs, time), containerFs: filesystemStats(node.imagefs, time) },
      rlimit: { time, maxpid: node.processes.max, curproc: node.processes.running },
    },
    pods: pods.map((pod) => podStats(pod, node, { isBrief })),
  };
}

function podStats(sample: PodSample, node: NodeUsage, { isBrief }: { isBrief: boolean }): object {
  const { pod, containers, cpu, memory, network, volumes = [], claims = [], processes } = sample;
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const time = formatTime(cpu.atMs);
  const brief = {
    podRef: { name, namespace, uid },
    startTime: pod.status?.startTime ?? time,
    containers: containers.map((container) => containerStats(container, node, { isBrief })),
    cpu: cpuStats(cpu),
    memory: memoryStats(memory),
  };
  if (isBrief) return brief;
  const used = diskUsage({ containers, volumes }, ["rootfs", "logs", "volumes"]);
  const shown = [
    ...volumes.map((volume) => ({ ...usedStats(volume, node.nodefs, time), name: volume.name })),
    ...claims.map(({ name: volume, claimName, filesystem }) => ({
      ...filesystemStats(filesystem, time),
      name: volume,
      pvcRef: { name: claimName, namespace },
    })),
  ];
  return {
    ...brief,
    ...(network !== undefined && { network: networkStats(network, time) }),
    ...(shown.length > 0 && { volume: shown }),
    "ephemeral-storage": usedStats(used, node.nodefs, time),
    ...(processes !== undefined && { process_stats: { process_count: processes } }),
  };
}

function containerStats(
  { name, startedMs, cpu, memory, rootfs, logs }: ContainerSample,
  { imagefs, nodefs }: NodeUsage,
  { isBrief }: { isBrief: boolean },
): object {
  const brief = { name, startTime: formatTime(startedMs), cpu: cpuStats(cpu), memory: memoryStats(memory) };
  const time = formatTime(cpu.atMs);
  if (isBrief) return brief;
  return {
    ...brief,
    ...(rootfs !== undefined && { rootfs: usedStats(rootfs, imagefs, time) }),
    ...(logs !== undefined && { logs: usedStats(logs, nodefs, time) }),
  };
}

const cpuStats = ({ atMs, nanoCores, nanoSeconds }: CpuSample) => ({
  time: formatTime(atMs),
  ...(nanoCores !== undefined && { usageNanoCores: nanoCores }),
  usageCoreNanoSeconds: nanoSeconds,
});

function memoryStats({ atMs, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults }: MemorySample): object {
  return { time: formatTime(atMs), usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults };
}

function nodeMemory({ memory }: NodeUsage, pods: readonly PodSample[], time: string): object {
  const used = memory.capacityBytes - memory.availableBytes;
  return {
    time,
    availableBytes: memory.availableBytes,
    usageBytes: used,
    workingSetBytes: used,
    rssBytes: pods.reduce((sum, pod) => sum + pod.memory.rssBytes, 0),
    pageFaults: 0,
    majorPageFaults: 0,
  };
}

function podsTotal(pods: readonly PodSample[], atMs: number): object {
  const sum = (read: (pod: PodSample) => number) => pods.reduce((total, pod) => total + read(pod), 0);
  return {
    cpu: cpuStats(totalCpu(pods, atMs)),
    memory: memoryStats({
      atMs,
      usageBytes: sum(({ memory }) => memory.usageBytes),
      workingSetBytes: sum(({ memory }) => memory.workingSetBytes),
      rssBytes: sum(({ memory }) => memory.rssBytes),
      pageFaults: sum(({ memory }) => memory.pageFaults),
      majorPageFaults: sum(({ memory }) => memory.majorPageFaults),
    }),
  };
}

function networkStats(interfaces: readonly InterfaceUsage[], time: string): object {
  return { time, ...interfaces[0], interfaces };
}

function filesystemStats({ availableBytes, capacityBytes, usedBytes, inodes, inodesFree }: FilesystemLevel, time: string): object {
  return { time, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed: inodes - inodesFree };
}

/** What one user of a file system takes of it. */
function usedStats({ bytes, inodes: inodesUsed }: DiskUsage, { availableBytes, capacityBytes, inodes, inodesFree }: FilesystemLevel, time: string): object {
  return { time, availableBytes, capacityBytes, usedBytes: bytes, inodesFree, inodes, inodesUsed };
}
