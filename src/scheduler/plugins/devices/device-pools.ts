import { matchesAnyTerm } from "../../../api/core-v1/node-matching.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { NodeSelector } from "../../../api/core-v1/types.ts";
import type { Device, DeviceTaint, DeviceTaintRule, ResourceSlice } from "../../../api/resource-v1/types.ts";
import type { NodeInfo } from "../../state/node-info.ts";

/** A device that could be used on a node. */
export interface PoolDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: DeepReadonly<Device>;
  /** Its own taints, and those that rules give it. */
  readonly taints: readonly DeepReadonly<DeviceTaint>[];
  /** Which nodes the device binds its claim to; undefined: all. */
  readonly reach: DeepReadonly<NodeSelector> | undefined;
}

/** The newest generation of a pool, as far as a node can use it. */
export interface DevicePool {
  readonly driver: string;
  readonly name: string;
  /** Whether slices of it are still missing. */
  readonly isIncomplete: boolean;
  readonly devices: readonly PoolDevice[];
  /** By counter set and counter: how much there is to consume. */
  readonly counters: ReadonlyMap<string, DeepReadonly<Record<string, { value: string | number }>>>;
}

/** The pools that have devices for a node. */
export function poolsFor(
  node: NodeInfo,
  slices: readonly DeepReadonly<ResourceSlice>[],
  rules: readonly DeepReadonly<DeviceTaintRule>[],
): readonly DevicePool[] {
  const pools: DevicePool[] = [];
  const byPool = Map.groupBy(slices, ({ spec }) => `${spec?.driver}/${spec?.pool?.name}`);
  for (const all of byPool.values()) {
    const generation = Math.max(...all.map(({ spec }) => spec?.pool?.generation ?? 0));
    const newest = all.filter(({ spec }) => spec?.pool?.generation === generation);
    const devices = newest.flatMap((slice) => devicesOf(slice, node, rules));
    if (devices.length === 0) continue;
    const { driver = "", pool } = newest[0]!.spec ?? {};
    const counters = new Map(newest.flatMap(({ spec }) => (spec?.sharedCounters ?? []).map(({ name, counters: own = {} }) => [name, own] as const)));
    pools.push({ driver, name: pool?.name ?? "", isIncomplete: newest.length !== pool?.resourceSliceCount, devices, counters });
  }
  return pools;
}

export function deviceKey({ driver, pool, device }: { readonly driver: string; readonly pool: string; readonly device: string }): string {
  return `${driver}/${pool}/${device}`;
}

function devicesOf({ spec }: DeepReadonly<ResourceSlice>, node: NodeInfo, rules: readonly DeepReadonly<DeviceTaintRule>[]): readonly PoolDevice[] {
  const { driver = "", pool, devices = [] } = spec ?? {};
  const perDevice = spec?.perDeviceNodeSelection === true;
  if (!perDevice && !reaches(spec ?? {}, node)) return [];
  return devices
    .filter((device) => !perDevice || reaches(device, node))
    .map((device) => ({
      driver,
      pool: pool?.name ?? "",
      device,
      taints: [...(device.taints ?? []), ...taintsByRules(rules, driver, pool?.name ?? "", device.name)],
      reach: reachOf(device.bindsToNode === true ? { nodeName: node.name } : perDevice ? device : (spec ?? {})),
    }));
}

interface Placement {
  readonly nodeName?: string;
  readonly nodeSelector?: DeepReadonly<NodeSelector>;
  readonly allNodes?: boolean;
}

function reaches({ nodeName, nodeSelector, allNodes }: Placement, node: NodeInfo): boolean {
  if (nodeName !== undefined && nodeName !== "") return nodeName === node.name;
  if (allNodes === true) return true;
  return nodeSelector !== undefined && matchesAnyTerm(nodeSelector.nodeSelectorTerms ?? [], node);
}

function reachOf({ nodeName, nodeSelector }: Placement): DeepReadonly<NodeSelector> | undefined {
  if (nodeName === undefined || nodeName === "") return nodeSelector;
  return { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] }] };
}

function taintsByRules(rules: readonly DeepReadonly<DeviceTaintRule>[], driver: string, pool: string, device: string): readonly DeepReadonly<DeviceTaint>[] {
  return rules.flatMap(({ spec }) => {
    const { driver: d, pool: p, device: n } = spec.deviceSelector ?? {};
    const isMeant = (d === undefined || d === driver) && (p === undefined || p === pool) && (n === undefined || n === device);
    return isMeant && spec.deviceSelector !== undefined && spec.taint !== undefined ? [spec.taint] : [];
  });
}
