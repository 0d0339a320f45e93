/** Sums over the containers of a pod, and the requests and limits of the pod as a whole that follow from them (KEP 2837). */
import { addQuantities, compareQuantities } from "../../../apimachinery/quantity.ts";
import { isHugePages } from "../resource-names.ts";
import type { ResourceList } from "../resource-names.ts";
import type { Container, PodSpec } from "../types.ts";

export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/** Fills what `spec.resources` leaves out, when it says anything at all. */
export function applyPodResourceDefaults(spec: PodSpec): void {
  const resources = spec.resources!;
  const limits: ResourceList = resources.limits ?? {};
  const requests: ResourceList = resources.requests ?? {};
  if (Object.keys(limits).length === 0 && Object.keys(requests).length === 0) return;
  const containerRequests = sumOfRequests(spec);
  for (const [name, sum] of Object.entries(containerRequests)) if (isPodLevelResource(name) && !isHugePages(name)) requests[name] ??= sum;
  for (const [name, limit] of Object.entries(limits)) if (isPodLevelResource(name)) requests[name] ??= limit;
  for (const [name, limit] of Object.entries(sumOfLimits(spec))) {
    if (!isPodLevelResource(name) || limits[name] !== undefined) continue;
    const request = requests[name];
    limits[name] = request !== undefined && compareQuantities(request, limit) > 0 ? request : limit;
  }
  if (Object.keys(requests).length > 0) resources.requests = requests;
  if (Object.keys(limits).length > 0) resources.limits = limits;
}

/** What the containers ask for together: regular ones and sidecars side by side, or the largest init container if that is more. */
export function sumOfRequests(spec: PodSpec): ResourceList {
  return aggregate(spec, (container) => container.resources?.requests ?? {});
}

/** As `sumOfRequests`, for resources that every regular container and sidecar limits. */
export function sumOfLimits(spec: PodSpec): ResourceList {
  const sums = aggregate(spec, (container) => container.resources?.limits ?? {});
  const running = [...(spec.containers ?? []), ...(spec.initContainers ?? []).filter(isSidecar)];
  return Object.fromEntries(Object.entries(sums).filter(([name]) => running.every((container) => container.resources?.limits?.[name] !== undefined)));
}

function aggregate(spec: PodSpec, listOf: (container: Container) => ResourceList): ResourceList {
  const sums: ResourceList = {};
  for (const container of spec.containers ?? []) addTo(sums, listOf(container));
  const sidecars: ResourceList = {};
  const peaks: ResourceList = {};
  for (const container of spec.initContainers ?? []) {
    const own = listOf(container);
    if (isSidecar(container)) {
      addTo(sums, own);
      addTo(sidecars, own);
      raiseTo(peaks, sidecars);
    } else {
      const together = { ...sidecars };
      addTo(together, own);
      raiseTo(peaks, Object.fromEntries(Object.entries(together).filter(([name]) => Object.hasOwn(own, name))));
    }
  }
  raiseTo(sums, peaks);
  return sums;
}

export function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

function addTo(sums: ResourceList, list: ResourceList): void {
  for (const [name, amount] of Object.entries(list)) sums[name] = Object.hasOwn(sums, name) ? addQuantities(sums[name]!, amount).text : amount;
}

function raiseTo(peaks: ResourceList, list: ResourceList): void {
  for (const [name, amount] of Object.entries(list)) if (!Object.hasOwn(peaks, name) || compareQuantities(amount, peaks[name]!) > 0) peaks[name] = amount;
}
