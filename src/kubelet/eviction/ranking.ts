/** In which order pods give way (documentation page "Node-pressure Eviction", "Pod selection for kubelet eviction"). Pure. */
import { quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { podRequests } from "../resources/pod-requests.ts";
import { diskUsage } from "../stats/sums.ts";
import type { DiskPlace } from "../stats/sums.ts";
import type { PodUsage } from "../stats/usage.ts";
import { resourceOf } from "./thresholds.ts";
import type { Signal } from "./thresholds.ts";

export interface RankedPods {
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly usage: ReadonlyMap<string, PodUsage>;
  readonly isOneFilesystem: boolean;
}

/** First who goes first: who uses more than it asked for, then by priority, then by how much more. */
export function rankPods(signal: Signal, { pods, usage, isOneFilesystem }: RankedPods): DeepReadonly<Pod>[] {
  const resource = resourceOf(signal);
  const places: readonly DiskPlace[] = isOneFilesystem ? ["rootfs", "logs", "volumes"] : signal.startsWith("imagefs") ? ["rootfs"] : ["logs", "volumes"];
  const used = (pod: DeepReadonly<Pod>): number | undefined => {
    const stats = usage.get(pod.metadata.uid ?? "");
    if (stats === undefined) return undefined;
    if (resource === "memory") return stats.memoryBytes;
    if (resource === "pids") return stats.processes ?? 0;
    return diskUsage(stats, places)[resource === "inodes" ? "inodes" : "bytes"];
  };
  const keys = pods.map((pod) => {
    const amount = used(pod);
    const requested = requestOf(pod, resource);
    // Who is not measured goes before all who are.
    return {
      pod,
      exceeds: amount === undefined || amount > requested,
      excess: amount === undefined ? Number.POSITIVE_INFINITY : amount - requested,
      priority: priorityOf(pod),
    };
  });
  const byRequest = resource !== "pids";
  return keys
    .toSorted((a, b) => (byRequest ? Number(b.exceeds) - Number(a.exceeds) : 0) || a.priority - b.priority || compareExcess(a.excess, b.excess))
    .map(({ pod }) => pod);
}

export const criticalPriority = 2_000_000_000;

/** Never evicted: pods of the system, and those that no API server made. */
export function isCriticalPod(pod: DeepReadonly<Pod>): boolean {
  const { annotations = {} } = pod.metadata;
  const source = annotations["kubernetes.io/config.source"];
  const isStatic = (source !== undefined && source !== "api") || annotations["kubernetes.io/config.mirror"] !== undefined;
  return isStatic || priorityOf(pod) >= criticalPriority;
}

function priorityOf(pod: DeepReadonly<Pod>): number {
  return pod.spec?.priority ?? 0;
}

function requestOf(pod: DeepReadonly<Pod>, resource: string): number {
  const amount = podRequests(pod)[resource];
  return amount === undefined ? 0 : quantityValue(amount);
}

const compareExcess = (a: number, b: number) => (a === b ? 0 : a > b ? -1 : 1);
