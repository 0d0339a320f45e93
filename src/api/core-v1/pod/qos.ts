/** Quality of service (documentation page "Pod Quality of Service Classes"). */
import { compareQuantities } from "../../../apimachinery/quantity.ts";
import type { ResourceList } from "../resource-names.ts";
import type { PodSpec, ResourceRequirements } from "../types.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

export function qosClassOf(spec: PodSpec): QosClass {
  const podLevel = spec.resources;
  const all: ResourceRequirements[] =
    podLevel !== undefined && (hasAmounts(podLevel.requests) || hasAmounts(podLevel.limits))
      ? [podLevel]
      : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources ?? {});
  const isBestEffort = all.every(({ requests, limits }) => !hasAmounts(requests) && !hasAmounts(limits));
  if (isBestEffort) return "BestEffort";
  const isGuaranteed = all.every(({ requests = {}, limits = {} }) =>
    ["cpu", "memory"].every((name) => isPositive(limits[name]) && compareQuantities(requests[name] ?? limits[name]!, limits[name]!) === 0),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

function hasAmounts(list: ResourceList | undefined): boolean {
  return ["cpu", "memory"].some((name) => isPositive(list?.[name]));
}

function isPositive(amount: string | number | undefined): boolean {
  return amount !== undefined && compareQuantities(amount, 0) > 0;
}
