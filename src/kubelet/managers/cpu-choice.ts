/** Which CPUs a container gets for itself: whole sockets before whole cores before threads, those most used already first. Pure. */
import { quantityMilli } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { SpecContainer } from "../pod-sync/runtime-names.ts";
import type { CpuSet } from "./cpu-set.ts";
import { union, without } from "./cpu-set.ts";
import type { Cpu, CpuTopology } from "./cpu-topology.ts";

/** Undefined when there are not enough free ones. `near`: NUMA nodes whose CPUs are taken first. */
export function takeCpus({ cpus }: CpuTopology, free: CpuSet, count: number, near: readonly number[] = []): CpuSet | undefined {
  if (free.length < count) return undefined;
  const closeBy = free.filter((id) => near.includes(cpus.find((cpu) => cpu.id === id)?.numaNode ?? -1));
  if (closeBy.length >= count) return takeAmong(cpus, closeBy, count);
  return union(closeBy, takeAmong(cpus, without(free, closeBy), count - closeBy.length));
}

function takeAmong(cpus: readonly Cpu[], among: CpuSet, count: number): CpuSet {
  let free = [...among];
  const taken: number[] = [];
  const take = (ids: readonly number[]) => {
    taken.push(...ids);
    free = free.filter((id) => !ids.includes(id));
  };
  for (const keyOf of [(cpu: Cpu) => `socket ${cpu.socket}`, (cpu: Cpu) => `core ${cpu.core}`]) {
    const size = largestGroup(cpus, keyOf);
    for (const group of groupsOf(cpus, free, keyOf)) {
      // Only what is free as a whole.
      if (group.length === size && count - taken.length >= size) take(group);
    }
  }
  const single = groupsOf(cpus, free, (cpu) => cpu.core).flat();
  take(single.slice(0, count - taken.length));
  return taken.toSorted((a, b) => a - b);
}

function largestGroup(cpus: readonly Cpu[], keyOf: (cpu: Cpu) => string): number {
  return Math.max(
    ...groupsOf(
      cpus,
      cpus.map(({ id }) => id),
      keyOf,
    ).map(({ length }) => length),
  );
}

/** The free CPUs that lie together, the fullest places first. */
function groupsOf(cpus: readonly Cpu[], free: CpuSet, keyOf: (cpu: Cpu) => string): number[][] {
  const groups = new Map<string, number[]>();
  for (const cpu of cpus) if (free.includes(cpu.id)) groups.set(keyOf(cpu), [...(groups.get(keyOf(cpu)) ?? []), cpu.id]);
  const inSocket = (id: number) => {
    const socket = cpus.find((cpu) => cpu.id === id)!.socket;
    return cpus.filter((cpu) => cpu.socket === socket && free.includes(cpu.id)).length;
  };
  return [...groups.values()].toSorted((a, b) => inSocket(a[0]!) - inSocket(b[0]!) || a.length - b.length || a[0]! - b[0]!);
}

/** How many CPUs a container is to have alone: whole ones of pods that are guaranteed what they ask for. */
export function exclusiveCpus(pod: DeepReadonly<Pod>, { kind, container }: SpecContainer): number {
  const request = container.resources?.requests?.["cpu"];
  if (kind === "ephemeralContainers" || pod.status?.qosClass !== "Guaranteed" || request === undefined) return 0;
  const milli = quantityMilli(request);
  return milli % 1000 === 0 ? milli / 1000 : 0;
}
