/**
 * What the node has granted to a pod's containers, which may be less or more than the spec now wants (KEP 1287, in-place resize): containers
 * run with what is allocated; a wish that cannot be granted stays pending. Pure.
 */
import { deepEqual } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { quantityMilli, quantityValue } from "../../apimachinery/quantity.ts";
import type { Container, Node, Pod, PodSpec, ResourceRequirements } from "../../api/core-v1/types.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import { shortagesOf } from "../node/admission.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";
import { podRequests } from "./pod-requests.ts";

/** By the container's name. */
export type Allocation = Readonly<Record<string, DeepReadonly<ResourceRequirements>>>;

export function allocationOf(pod: DeepReadonly<Pod>): Allocation {
  return Object.fromEntries(containersOf(pod).map(({ container }) => [container.name, container.resources ?? {}]));
}

/** The pod as it may run. Containers that the allocation does not know (ephemeral ones that came later) are as the spec has them. */
export function withAllocation(pod: DeepReadonly<Pod>, allocation: Allocation): DeepReadonly<Pod> {
  if (!needsResize(pod, allocation)) return pod;
  const granted = (containers: readonly DeepReadonly<Container>[]) =>
    containers.map((container) => (allocation[container.name] === undefined ? container : { ...container, resources: allocation[container.name] }));
  const { containers = [], initContainers } = pod.spec ?? {};
  const spec = { ...pod.spec, containers: granted(containers), ...(initContainers !== undefined && { initContainers: granted(initContainers) }) };
  return { ...pod, spec: spec as DeepReadonly<PodSpec> };
}

/** Whether the spec wants other amounts of what can be changed than were granted. */
export function needsResize(pod: DeepReadonly<Pod>, allocation: Allocation): boolean {
  return containersOf(pod).some(
    ({ container }) => allocation[container.name] !== undefined && !areSameAmounts(container.resources ?? {}, allocation[container.name]!),
  );
}

/** Of what can be resized. */
function areSameAmounts(left: DeepReadonly<ResourceRequirements>, right: DeepReadonly<ResourceRequirements>): boolean {
  const isSame = (member: "requests" | "limits") => left[member]?.["cpu"] === right[member]?.["cpu"] && left[member]?.["memory"] === right[member]?.["memory"];
  return left === right || (isSame("requests") && isSame("limits"));
}

export type ResizeVerdict = { readonly outcome: "granted" } | { readonly outcome: "Deferred" | "Infeasible"; readonly message: string };

export interface ResizeQuestion {
  /** As the spec wants it. */
  readonly pod: DeepReadonly<Pod>;
  readonly allocation: Allocation;
  readonly node: DeepReadonly<Node>;
  /** The node's other pods, as they may run. */
  readonly others: readonly DeepReadonly<Pod>[];
  readonly settings: Pick<KubeletSettings, "cpuManagerPolicy" | "memoryManagerPolicy">;
}

export function judgeResize({ pod, allocation, node, others, settings }: ResizeQuestion): ResizeVerdict {
  const pinned = pinnedFault(pod, allocation, settings);
  if (pinned !== undefined) return { outcome: "Infeasible", message: pinned };
  const requests = podRequests(pod);
  const allocatable = node.status?.allocatable ?? {};
  for (const [name, read] of [
    ["memory", quantityValue],
    ["cpu", quantityMilli],
  ] as const) {
    const [requested, capacity] = [requests[name], allocatable[name]].map((amount) => (amount === undefined ? 0 : read(amount))) as [number, number];
    if (requested > capacity)
      return { outcome: "Infeasible", message: `Node didn't have enough capacity: ${name}, requested: ${requested}, capacity: ${capacity}` };
  }
  const [shortage] = shortagesOf(pod, node, others);
  return shortage === undefined ? { outcome: "granted" } : { outcome: "Deferred", message: shortage.rejection.message };
}

/** What has CPUs or memory of its own keeps its size. */
function pinnedFault(
  pod: DeepReadonly<Pod>,
  allocation: Allocation,
  { cpuManagerPolicy, memoryManagerPolicy }: ResizeQuestion["settings"],
): string | undefined {
  if (pod.status?.qosClass !== "Guaranteed") return undefined;
  const changes = (name: string) =>
    containersOf(pod).some(({ container }) => !deepEqual(container.resources?.requests?.[name], allocation[container.name]?.requests?.[name]));
  if (cpuManagerPolicy === "static" && changes("cpu")) return 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
  if (memoryManagerPolicy === "Static" && changes("memory")) return 'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"';
  return undefined;
}

/** What events tell of a resize: its containers with their amounts, the generation that wanted them, and what went wrong. */
export function resizeMessage(opening: string, pod: DeepReadonly<Pod>, generation: number, error?: string): string {
  const named = (containers: readonly DeepReadonly<Container>[]) => containers.map(({ name, resources }) => ({ name, resources: sorted(resources ?? {}) }));
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
  return `${opening}: ${JSON.stringify({ ...(sidecars.length > 0 && { initContainers: named(sidecars) }), ...(containers.length > 0 && { containers: named(containers) }), generation, ...(error !== undefined && { error }) })}`;
}

/** As Go writes it: members in their order, names of resources sorted. */
function sorted({ limits, requests }: DeepReadonly<ResourceRequirements>): Record<string, unknown> {
  const inOrder = (amounts: DeepReadonly<Record<string, unknown>>) => Object.fromEntries(Object.entries(amounts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { ...(limits !== undefined && { limits: inOrder(limits) }), ...(requests !== undefined && { requests: inOrder(requests) }) };
}

/** The reverse of `resizableText`: requests and limits of a container as it runs, beside those that cannot change. */
export function actualResources(text: string, allocated: DeepReadonly<ResourceRequirements>): ResourceRequirements {
  const [cpuRequest = "-", cpuLimit = "-", memoryRequest = "-", memoryLimit = "-"] = text.split(" ");
  const merge = (known: DeepReadonly<Record<string, unknown>> | undefined, cpu: string, memory: string) => {
    const amounts = { ...known, cpu, memory } as Record<string, string>;
    return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== "-"));
  };
  const [requests, limits] = [merge(allocated.requests, cpuRequest, memoryRequest), merge(allocated.limits, cpuLimit, memoryLimit)];
  return { ...(Object.keys(limits).length > 0 && { limits }), ...(Object.keys(requests).length > 0 && { requests }) };
}
