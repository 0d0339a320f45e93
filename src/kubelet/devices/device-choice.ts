/** Which devices of the node a pod gets (documentation page "Device Plugins"). Pure. */
import { quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { containersOf, isSidecar } from "../pod-sync/runtime-names.ts";

export interface Device {
  readonly id: string;
  readonly isHealthy: boolean;
  /** Empty: near to none in particular. */
  readonly numaNodes: readonly number[];
}

/** Ids by resource, by container. */
export type DeviceAllocation = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export interface DeviceQuestion {
  readonly pod: DeepReadonly<Pod>;
  /** Of each resource that plugins of the node have. */
  readonly devices: ReadonlyMap<string, readonly Device[]>;
  /** Ids that other pods have, by resource. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
  /** NUMA nodes that a container should be near to. */
  near?(containerName: string): readonly number[] | undefined;
}

export type DeviceAnswer = { readonly outcome: "chosen"; readonly allocation: DeviceAllocation } | { readonly outcome: "refused"; readonly message: string };

/** Init containers lend theirs to those that come after them; sidecars keep theirs. */
export function chooseDevices({ pod, devices, taken, near }: DeviceQuestion): DeviceAnswer {
  const allocation: Record<string, Record<string, readonly string[]>> = {};
  const own = new Map([...devices.keys()].map((resource) => [resource, new Set<string>()]));
  const lent = new Map([...devices.keys()].map((resource) => [resource, new Set<string>()]));
  for (const spec of containersOf(pod)) {
    const { name, resources } = spec.container;
    for (const [resource, amount] of Object.entries(resources?.limits ?? {})) {
      const all = devices.get(resource);
      const count = quantityValue(amount);
      if (all === undefined || count === 0) continue;
      const [used, reusable] = [own.get(resource)!, lent.get(resource)!];
      const free = all.filter(({ id, isHealthy }) => isHealthy && !used.has(id) && !(taken.get(resource)?.has(id) ?? false));
      const nodes = near?.(name) ?? [];
      // Those lent out before are taken first, then those that are near.
      const order = ({ id, numaNodes }: Device) => (reusable.has(id) ? 0 : numaNodes.some((node) => nodes.includes(node)) ? 1 : 2);
      const chosen = free
        .toSorted((a, b) => order(a) - order(b))
        .slice(0, count)
        .map(({ id }) => id);
      if (chosen.length < count)
        return { outcome: "refused", message: `requested number of devices unavailable for ${resource}. Requested: ${count}, Available: ${free.length}` };
      (allocation[name] ??= {})[resource] = chosen;
      const isLent = spec.kind === "initContainers" && !isSidecar(spec);
      for (const id of chosen) {
        if (isLent) reusable.add(id);
        else {
          reusable.delete(id);
          used.add(id);
        }
      }
    }
  }
  return { outcome: "chosen", allocation };
}
