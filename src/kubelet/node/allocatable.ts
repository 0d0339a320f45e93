/** What a node has, and what of it is for pods (documentation page "Reserve Compute Resources for System Daemons"). Pure. */
import { quantityMilli, quantityOf, quantityValue } from "../../apimachinery/quantity.ts";
import type { AmountMap, KubeletSettings } from "../configuration/settings.ts";
import { amountOf, thresholdsOf } from "../eviction/thresholds.ts";
import { parseCpuSet } from "../managers/cpu-set.ts";
import type { Machine } from "./machine.ts";

export type NodeResources = Record<string, string>;

export function nodeCapacity(machine: Machine, settings: Pick<KubeletSettings, "maxPods">): NodeResources {
  return {
    cpu: String(machine.cpus),
    "ephemeral-storage": `${Math.floor(machine.storageBytes / 1024)}Ki`,
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    memory: `${Math.floor(machine.memoryBytes / 1024)}Ki`,
    pods: String(settings.maxPods),
  };
}

/** The capacity without what is reserved, and without what must stay free so that eviction does not begin. */
export function nodeAllocatable(machine: Machine, settings: KubeletSettings): NodeResources {
  const capacity = nodeCapacity(machine, settings);
  const reserved = (name: string, read: (text: string) => number) =>
    [settings.kubeReserved, settings.systemReserved].reduce((sum, map) => sum + (map[name] === undefined ? 0 : read(map[name])), 0);
  const milliCpus = Math.max(0, machine.cpus * 1000 - reservedMilliCpus(settings));
  const left = (name: string, free: number) => Math.max(0, quantityValue(capacity[name]!) - reserved(name, quantityValue) - free);
  const storageBytes = quantityValue(capacity["ephemeral-storage"]!);
  return {
    ...capacity,
    cpu: quantityOf(milliCpus, "decimalSI", -3).text,
    "ephemeral-storage": quantityOf(left("ephemeral-storage", evictionReserve(settings, "nodefs.available", storageBytes)), "binarySI").text,
    memory: `${Math.floor(left("memory", evictionReserve(settings, "memory.available", machine.memoryBytes)) / 1024)}Ki`,
  };
}

/** Bytes of memory that all pods may use together before some of them is evicted. */
export function podsMemoryBytes(machine: Machine, { kubeReserved, systemReserved }: { kubeReserved: AmountMap; systemReserved: AmountMap }): number {
  const bytes = (map: AmountMap) => (map["memory"] === undefined ? 0 : quantityValue(map["memory"]));
  return machine.memoryBytes - bytes(kubeReserved) - bytes(systemReserved);
}

/** CPUs reserved by number count instead of amounts. */
export function reservedMilliCpus({
  reservedSystemCPUs,
  kubeReserved,
  systemReserved,
}: Pick<KubeletSettings, "reservedSystemCPUs" | "kubeReserved" | "systemReserved">): number {
  if (reservedSystemCPUs !== "") return parseCpuSet(reservedSystemCPUs).length * 1000;
  return [kubeReserved, systemReserved].reduce((sum, map) => sum + quantityMilli(map["cpu"] ?? 0), 0);
}

function evictionReserve(settings: KubeletSettings, signal: "memory.available" | "nodefs.available", capacity: number): number {
  const threshold = thresholdsOf(settings).find((candidate) => candidate.isHard && candidate.signal === signal);
  return threshold === undefined ? 0 : amountOf(threshold.value, capacity);
}
