/** `/stats/summary`: what pods and the node use (kubelet stats API v1alpha1). Pure. */
import { formatTime } from "../../apimachinery/time.ts";
import type { ContainerStats, CpuUsage, MemoryUsage } from "../runtime/cri-messages.ts";
import { runtimeLabels } from "../pod-sync/runtime-names.ts";

export function statsSummary(nodeName: string, stats: readonly ContainerStats[], nowMs: number): StatsSummary {
  const pods = new Map<string, PodStats>();
  for (const { attributes, cpu, memory } of stats) {
    const { labels } = attributes;
    const uid = labels[runtimeLabels.podUid] ?? "";
    const known = pods.get(uid);
    const podRef = { name: labels[runtimeLabels.podName] ?? "", namespace: labels[runtimeLabels.podNamespace] ?? "", uid };
    const container = { name: labels[runtimeLabels.containerName] ?? attributes.metadata.name, cpu: cpuStats(cpu, nowMs), memory: memoryStats(memory, nowMs) };
    pods.set(uid, { podRef, containers: [...(known?.containers ?? []), container] });
  }
  const all = [...pods.values()].map((pod) => ({ ...pod, ...totals(pod.containers, nowMs) }));
  return { node: { nodeName, systemContainers: [], ...totals(all.flatMap(({ containers }) => containers), nowMs) }, pods: all };
}

export interface StatsSummary {
  readonly node: Usage & { readonly nodeName: string; readonly systemContainers: readonly [] };
  readonly pods: readonly (PodStats & Usage)[];
}

interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly containers: readonly (Usage & { readonly name: string })[];
}
interface Usage {
  readonly cpu: { readonly time: string; readonly usageNanoCores: number; readonly usageCoreNanoSeconds: number };
  readonly memory: { readonly time: string; readonly usageBytes: number; readonly workingSetBytes: number; readonly rssBytes: number };
}

/** CRI's times are nanoseconds; what was not measured counts as now. */
const timeText = (nanoseconds: number | undefined, nowMs: number) => formatTime(nanoseconds === undefined || nanoseconds === 0 ? nowMs : nanoseconds / 1e6);

function cpuStats(cpu: CpuUsage | undefined, nowMs: number): Usage["cpu"] {
  return { time: timeText(cpu?.timestamp, nowMs), usageNanoCores: cpu?.usage_nano_cores?.value ?? 0, usageCoreNanoSeconds: cpu?.usage_core_nano_seconds?.value ?? 0 };
}

function memoryStats(memory: MemoryUsage | undefined, nowMs: number): Usage["memory"] {
  return {
    time: timeText(memory?.timestamp, nowMs),
    usageBytes: memory?.usage_bytes?.value ?? 0,
    workingSetBytes: memory?.working_set_bytes?.value ?? 0,
    rssBytes: memory?.rss_bytes?.value ?? 0,
  };
}

function totals(parts: readonly Usage[], nowMs: number): Usage {
  const sum = (read: (usage: Usage) => number) => parts.reduce((total, usage) => total + read(usage), 0);
  const time = formatTime(nowMs);
  return {
    cpu: { time, usageNanoCores: sum(({ cpu }) => cpu.usageNanoCores), usageCoreNanoSeconds: sum(({ cpu }) => cpu.usageCoreNanoSeconds) },
    memory: {
      time,
      usageBytes: sum(({ memory }) => memory.usageBytes),
      workingSetBytes: sum(({ memory }) => memory.workingSetBytes),
      rssBytes: sum(({ memory }) => memory.rssBytes),
    },
  };
}
