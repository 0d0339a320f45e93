/** The words of an eviction, as `kubectl describe` shows them. Pure. */
import { compareQuantities, quantityOf } from "../../apimachinery/quantity.ts";
import type { Quantity } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";
import type { ContainerUsage, PodUsage } from "../stats/usage.ts";
import type { Observations } from "./observations.ts";
import { amountOf } from "./thresholds.ts";
import type { PressureCondition, StarvedResource, Threshold } from "./thresholds.ts";

export const evictedReason = "Evicted";

export interface EvictionWords {
  readonly message: string;
  /** Of the event. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Of a pod that gives way because the node is low on `resource`. */
export function evictionWords(
  resource: StarvedResource,
  threshold: Threshold,
  parts: { observations: Observations; pod: DeepReadonly<Pod>; usage: PodUsage | undefined },
): EvictionWords {
  let message = `The node was low on resource: ${resource}. `;
  const observed = parts.observations.get(threshold.signal);
  if (observed !== undefined) {
    const isCount = resource === "inodes" || resource === "pids";
    const wanted = threshold.value.kind === "quantity" ? threshold.value.text : quantityOf(amountOf(threshold.value, observed.capacity), "binarySI").text;
    message += `Threshold quantity: ${wanted}, available: ${quantityOf(Math.trunc(observed.available), isCount ? "decimalSI" : "binarySI").text}. `;
  }
  const offenders: { name: string; usage: string }[] = [];
  for (const container of parts.usage?.containers ?? []) {
    const spec = containersOf(parts.pod).find((candidate) => candidate.container.name === container.name);
    const used = usedOf(container, resource);
    const requested = spec?.container.resources?.requests?.[resource] ?? "0";
    if (spec === undefined || used === undefined || compareQuantities(used, requested) <= 0) continue;
    message += `Container ${container.name} was using ${used.text}, request is ${requested}, has larger consumption of ${resource}. `;
    offenders.push({ name: container.name, usage: used.text });
  }
  return {
    message,
    annotations: {
      offending_containers: offenders.map(({ name }) => name).join(","),
      offending_containers_usage: offenders.map(({ usage }) => usage).join(","),
      starved_resource: resource,
    },
  };
}

export const emptyDirMessage = (volume: string, limit: string) =>
  `Usage of EmptyDir volume ${JSON.stringify(volume)} exceeds the limit ${JSON.stringify(limit)}. `;
export const podStorageMessage = (limit: string) => `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
export const containerStorageMessage = (container: string, limit: string) =>
  `Container ${container} exceeded its local ephemeral storage limit ${JSON.stringify(limit)}. `;
export const pressureMessage = (conditions: readonly PressureCondition[]) => `The node had condition: [${conditions.join(" ")}]. `;

function usedOf({ memoryBytes, rootfs, logs }: ContainerUsage, resource: StarvedResource): Quantity | undefined {
  if (resource === "memory") return memoryBytes === undefined ? undefined : quantityOf(memoryBytes, "binarySI");
  if (resource !== "ephemeral-storage" || rootfs === undefined || logs === undefined) return undefined;
  return quantityOf(rootfs.bytes + logs.bytes, "binarySI");
}
