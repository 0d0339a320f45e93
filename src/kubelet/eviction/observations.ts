/** How each signal stands. Pure. */
import type { NodeUsage } from "../stats/usage.ts";
import { amountOf } from "./thresholds.ts";
import type { Signal, Threshold } from "./thresholds.ts";

export interface Observation {
  readonly available: number;
  readonly capacity: number;
}
export type Observations = ReadonlyMap<Signal, Observation>;

export function observe(usage: NodeUsage): Observations {
  const { memory, allocatableMemory, nodefs, imagefs, processes } = usage;
  return new Map<Signal, Observation>([
    ["memory.available", { available: memory.availableBytes, capacity: memory.capacityBytes }],
    ...(allocatableMemory === undefined
      ? []
      : [["allocatableMemory.available", { available: allocatableMemory.availableBytes, capacity: allocatableMemory.capacityBytes }] as const]),
    ["nodefs.available", { available: nodefs.availableBytes, capacity: nodefs.capacityBytes }],
    ["nodefs.inodesFree", { available: nodefs.inodesFree, capacity: nodefs.inodes }],
    ["imagefs.available", { available: imagefs.availableBytes, capacity: imagefs.capacityBytes }],
    ["imagefs.inodesFree", { available: imagefs.inodesFree, capacity: imagefs.inodes }],
    ["pid.available", { available: processes.max - processes.running, capacity: processes.max }],
  ]);
}

/** Less is available than the threshold says; `withReclaim`: than it and the least to reclaim together. */
export function isMet(threshold: Threshold, observations: Observations, { withReclaim }: { withReclaim: boolean }): boolean {
  const observed = observations.get(threshold.signal);
  // A file system that counts no inodes never runs out of them.
  if (observed === undefined || observed.capacity === 0) return false;
  const reclaim = withReclaim && threshold.minReclaim !== undefined ? amountOf(threshold.minReclaim, observed.capacity) : 0;
  return observed.available < amountOf(threshold.value, observed.capacity) + reclaim;
}
