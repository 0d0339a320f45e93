import { addQuantities, toQuantity } from "../../../apimachinery/quantity.ts";
import { deviceKey } from "./device-pools.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Quantity } from "../../../apimachinery/quantity.ts";
import type { DeviceRequestAllocationResult } from "../../../api/resource-v1/types.ts";
import type { Consumption } from "./capacity.ts";

/** Which devices are in use, by `deviceKey`. */
export interface DeviceUses {
  /** By one claim alone. */
  isTaken(key: string): boolean;
  /** What those who share a device have of it; undefined when nobody has. */
  shared(key: string): Consumption | undefined;
}

/** Sums up allocations; those of administrators do not count. */
export function usesOf(results: Iterable<DeepReadonly<DeviceRequestAllocationResult>>): DeviceUses {
  const taken = new Set<string>();
  const shared = new Map<string, Map<string, Quantity>>();
  for (const result of results) {
    if (result.adminAccess === true) continue;
    const key = deviceKey(result);
    if (result.shareID === undefined) taken.add(key);
    else addTo(shared, key, Object.entries(result.consumedCapacity ?? {}));
  }
  return { isTaken: (key) => taken.has(key), shared: (key) => shared.get(key) };
}

function addTo(shared: Map<string, Map<string, Quantity>>, key: string, shares: readonly (readonly [string, string | number])[]): void {
  let sums = shared.get(key);
  if (sums === undefined) shared.set(key, (sums = new Map()));
  for (const [name, share] of shares) sums.set(name, addQuantities(sums.get(name) ?? toQuantity("0"), share));
}
