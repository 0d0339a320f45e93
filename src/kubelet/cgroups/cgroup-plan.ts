/**
 * The control groups of a node's pods and what stands in their files (documentation pages "Reserve Compute Resources for System Daemons" and
 * "Pod Quality of Service Classes"): one group for all pods, in it those of class Guaranteed and one group each for the other classes. Pure.
 */
import { quantityMilli, quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { cpuPeriodMicros, cpuQuota, cpuShares } from "../resources/linux-resources.ts";
import { podLimits, podRequests } from "../resources/pod-requests.ts";

/** What a group may use; absent: as much as its parent. */
export interface GroupLimits {
  readonly cpuShares: number;
  /** Microseconds in a period of `cpuPeriodMicros`. */
  readonly cpuQuota?: number;
  readonly memoryBytes?: number;
  readonly pids?: number;
}

export const qosClasses = ["Burstable", "BestEffort"] as const;

/** `root`: the group of all pods, such as `/kubepods`. */
export function podGroup(root: string, pod: DeepReadonly<Pod>): string {
  const qosClass = pod.status?.qosClass ?? "BestEffort";
  return `${qosClass === "Guaranteed" ? root : qosGroup(root, qosClass)}/pod${pod.metadata.uid ?? ""}`;
}

export function qosGroup(root: string, qosClass: string): string {
  return `${root}/${qosClass.toLowerCase()}`;
}

/** A limit counts for the pod where each of its containers has one, or the pod itself. */
export function podGroupLimits(pod: DeepReadonly<Pod>, podPidsLimit: number): GroupLimits {
  const pids = podPidsLimit > 0 ? { pids: podPidsLimit } : {};
  if ((pod.status?.qosClass ?? "BestEffort") === "BestEffort") return { cpuShares: cpuShares(0), ...pids };
  const limits = podLimits(pod);
  const cpu = isLimited(pod, "cpu") ? quantityMilli(limits["cpu"] ?? 0) : 0;
  const memory = isLimited(pod, "memory") ? quantityValue(limits["memory"] ?? 0) : 0;
  return {
    cpuShares: cpuShares(requestedMilliCpus(pod)),
    ...(cpu > 0 && { cpuQuota: cpuQuota(cpu) }),
    ...(memory > 0 && { memoryBytes: memory }),
    ...pids,
  };
}

/** Of the class as a whole: together they weigh what they ask for. */
export function qosGroupLimits(qosClass: (typeof qosClasses)[number], milliCpus: Iterable<number>): GroupLimits {
  return { cpuShares: cpuShares(qosClass === "BestEffort" ? 0 : [...milliCpus].reduce((sum, one) => sum + one, 0)) };
}

export function requestedMilliCpus(pod: DeepReadonly<Pod>): number {
  return quantityMilli(podRequests(pod)["cpu"] ?? 0);
}

function isLimited({ spec }: DeepReadonly<Pod>, resource: string): boolean {
  if (spec?.resources?.limits?.[resource] !== undefined) return true;
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].every(({ resources }) => {
    const limit = resources?.limits?.[resource];
    return limit !== undefined && quantityMilli(limit) > 0;
  });
}

export type GroupFile = readonly [controller: string, file: string, value: string];

/** In the order to write them. */
export function groupFiles(version: "v1" | "v2", limits: GroupLimits): GroupFile[] {
  const { cpuQuota: quota, memoryBytes, pids } = limits;
  if (version === "v1")
    return [
      ["cpu", "cpu.shares", String(limits.cpuShares)],
      ["cpu", "cpu.cfs_period_us", String(cpuPeriodMicros)],
      ["cpu", "cpu.cfs_quota_us", String(quota ?? -1)],
      ["memory", "memory.limit_in_bytes", String(memoryBytes ?? -1)],
      ["pids", "pids.max", pids === undefined ? "max" : String(pids)],
    ];
  return [
    ["cpu", "cpu.weight", String(cpuWeight(limits.cpuShares))],
    ["cpu", "cpu.max", `${quota ?? "max"} ${cpuPeriodMicros}`],
    ["memory", "memory.max", memoryBytes === undefined ? "max" : String(memoryBytes)],
    ["pids", "pids.max", pids === undefined ? "max" : String(pids)],
  ];
}

/** Shares of v1 (2 to 262144, default 1024) as weight of v2 (1 to 10000, default 100): quadratic in the logarithm, through these three pairs. */
export function cpuWeight(shares: number): number {
  const log = Math.log2(Math.min(262_144, Math.max(2, shares)));
  return Math.ceil(10 ** ((log * log + 125 * log) / 612 - 7 / 34) - 1e-9);
}
