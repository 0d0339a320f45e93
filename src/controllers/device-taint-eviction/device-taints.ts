import { parseTime } from "../../apimachinery/time.ts";
import { tolerates } from "../taint-eviction/plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { DeviceRequestAllocationResult, DeviceTaint, DeviceTaintRule, ResourceClaim, ResourceSlice } from "../../api/resource-v1/types.ts";

/** A taint that concerns an allocated device: published with it, or laid on it by a rule. */
export interface LaidTaint {
  readonly taint: DeepReadonly<DeviceTaint>;
  /** Name of the rule. */
  readonly rule?: string;
}

export function devicesOf({ status }: DeepReadonly<ResourceClaim>): readonly DeepReadonly<DeviceRequestAllocationResult>[] {
  return status?.allocation?.devices?.results ?? [];
}

/** All taints of a device. */
export function taintsOn(
  device: DeepReadonly<DeviceRequestAllocationResult>,
  slices: readonly DeepReadonly<ResourceSlice>[],
  rules: readonly DeepReadonly<DeviceTaintRule>[],
): readonly LaidTaint[] {
  const published = currentSlices(slices, device).flatMap(({ spec }) => spec.devices ?? []);
  const own = published.filter(({ name }) => name === device.device).flatMap(({ taints = [] }) => taints.map((taint) => ({ taint })));
  const laid = rules.filter((rule) => selects(rule, device)).map(({ spec, metadata }) => ({ taint: spec.taint!, rule: metadata.name ?? "" }));
  return [...own, ...laid];
}

/** Whether a rule's selector takes a device in; one without selector takes in none. */
export function selects({ spec }: DeepReadonly<DeviceTaintRule>, device: { readonly driver: string; readonly pool: string; readonly device: string }): boolean {
  const { deviceSelector: wanted } = spec;
  if (wanted === undefined || spec.taint === undefined) return false;
  const fits = (value: string | undefined, actual: string) => value === undefined || value === actual;
  return fits(wanted.driver, device.driver) && fits(wanted.pool, device.pool) && fits(wanted.device, device.device);
}

/** When a taint drives the users of a device away, in ms since 1970; infinite when it is tolerated for ever. */
export function endMs(device: DeepReadonly<DeviceRequestAllocationResult>, taint: DeepReadonly<DeviceTaint>): number {
  const addedMs = taint.timeAdded === undefined ? 0 : parseTime(taint.timeAdded);
  const tolerations = (device.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
  if (tolerations.length === 0) return addedMs;
  const stays = tolerations.map(({ tolerationSeconds }) =>
    tolerationSeconds === undefined ? Number.POSITIVE_INFINITY : Math.max(0, tolerationSeconds) * 1000,
  );
  return addedMs + Math.min(...stays);
}

/** Slices of a device's pool, of its newest generation only. */
function currentSlices(
  slices: readonly DeepReadonly<ResourceSlice>[],
  { driver, pool }: { readonly driver: string; readonly pool: string },
): readonly DeepReadonly<ResourceSlice>[] {
  const ofPool = slices.filter(({ spec }) => spec.driver === driver && spec.pool.name === pool);
  const newest = Math.max(...ofPool.map(({ spec }) => spec.pool.generation));
  return ofPool.filter(({ spec }) => spec.pool.generation === newest);
}
