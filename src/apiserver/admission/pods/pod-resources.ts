/** What a pod asks for as a whole: containers together, the largest init container, sidecars, pod-level values, overhead (KEP-753, KEP-2837). */
import type { PodSpec, ResourceRequirements } from "../../../api/core-v1/types.ts";
import { addQuantities, compareQuantities, parseQuantity } from "../../../apimachinery/quantity.ts";
import type { Quantity } from "../../../apimachinery/quantity.ts";

export type Amounts = Map<string, Quantity>;

/** Sum by resource name of `requests` or `limits`. */
export function podAmounts(spec: PodSpec, kind: "requests" | "limits", options: { readonly withOverhead: boolean }): Amounts {
  const total: Amounts = new Map();
  for (const { resources } of spec.containers ?? []) add(total, amountsOf(resources, kind));
  const sidecars: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const own = amountsOf(resources, kind);
    if (restartPolicy === "Always") {
      add(total, own);
      add(sidecars, own);
      raise(starting, sidecars);
    } else {
      // An init container runs beside the sidecars that were started before it.
      add(own, sidecars);
      raise(starting, own);
    }
  }
  raise(total, starting);
  for (const [name, quantity] of amountsOf(spec.resources, kind)) if (isPodLevel(name)) total.set(name, quantity);
  if (options.withOverhead) addOverhead(total, spec, kind);
  return total;
}

export function isPodLevel(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

export function amountsOf(resources: ResourceRequirements | undefined, kind: "requests" | "limits"): Amounts {
  return new Map(Object.entries(resources?.[kind] ?? {}).map(([name, amount]) => [name, parseQuantity(String(amount))]));
}

function addOverhead(total: Amounts, spec: PodSpec, kind: "requests" | "limits"): void {
  for (const [name, amount] of Object.entries(spec.overhead ?? {})) {
    const existing = total.get(name);
    // A pod without a limit stays without one.
    if (kind === "limits" && existing === undefined) continue;
    total.set(name, existing === undefined ? parseQuantity(String(amount)) : addQuantities(existing, amount));
  }
}

function add(total: Amounts, more: Amounts): void {
  for (const [name, quantity] of more) {
    const existing = total.get(name);
    total.set(name, existing === undefined ? quantity : addQuantities(existing, quantity));
  }
}

function raise(total: Amounts, floor: Amounts): void {
  for (const [name, quantity] of floor) {
    const existing = total.get(name);
    if (existing === undefined || compareQuantities(existing, quantity) < 0) total.set(name, quantity);
  }
}
