import { addResources, amountIn, isScalarResource, maxResources, noResources, resourceAmount, resourcesFrom } from "./resources.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Container, ContainerStatus, Pod } from "../../api/core-v1/types.ts";
import type { ResourceList, Resources } from "./resources.ts";

/**
 * What a pod asks of its node (API concept "Resource Management for Pods and Containers", KEP-753 sidecars, KEP-1287 in-place resize,
 * KEP-2837 pod-level resources): the containers and sidecars together, or the init container that needs more, and the overhead.
 */
export function podRequests(pod: DeepReadonly<Pod>): Resources {
  return withOverhead(pod, withPodLevel(pod, aggregate(pod, noDefaults)));
}

/** CPU and memory as scoring counts them: a container that asks for none counts as `defaultMilliCpu` and `defaultMemoryBytes`. */
export function scoredRequests(pod: DeepReadonly<Pod>): { readonly milliCpu: number; readonly memoryBytes: number } {
  const isPodLevel = hasPodLevelRequests(pod);
  return withOverhead(pod, withPodLevel(pod, aggregate(pod, isPodLevel ? noDefaults : scoringDefaults)));
}

const defaultMilliCpu = 100;
const defaultMemoryBytes = 200 * 1024 * 1024;

interface Defaults {
  readonly milliCpu: number;
  readonly memoryBytes: number;
}
const noDefaults: Defaults = { milliCpu: 0, memoryBytes: 0 };
const scoringDefaults: Defaults = { milliCpu: defaultMilliCpu, memoryBytes: defaultMemoryBytes };

function aggregate(pod: DeepReadonly<Pod>, defaults: Defaults): Resources {
  const statuses = statusesOf(pod);
  const isInfeasible = isResizeInfeasible(pod);
  const requestsOf = (container: DeepReadonly<Container>) => containerRequests(container, statuses?.get(container.name), { defaults, isInfeasible });
  let total = noResources;
  for (const container of pod.spec?.containers ?? []) total = addResources(total, requestsOf(container));
  let sidecars = noResources;
  let atStart = noResources;
  for (const container of pod.spec?.initContainers ?? []) {
    const requests = requestsOf(container);
    if (container.restartPolicy === "Always") {
      total = addResources(total, requests);
      sidecars = addResources(sidecars, requests);
      atStart = maxResources(atStart, sidecars);
    } else atStart = maxResources(atStart, addResources(sidecars, requests));
  }
  return maxResources(total, atStart);
}

/** While a resize is under way the larger of what is wanted, granted and in force counts; one that cannot be granted is not counted. */
function containerRequests(
  container: DeepReadonly<Container>,
  status: DeepReadonly<ContainerStatus> | undefined,
  { defaults, isInfeasible }: { defaults: Defaults; isInfeasible: boolean },
): Resources {
  const wanted = withDefaults(container.resources?.requests, defaults);
  if (status === undefined) return wanted;
  const inForce = status.resources?.requests;
  const granted = status.allocatedResources;
  if (inForce === undefined && granted === undefined) return wanted;
  const counted = maxResources(resourcesFrom(inForce), resourcesFrom(granted));
  return isInfeasible ? counted : maxResources(wanted, counted);
}

function withDefaults(requests: ResourceList | undefined, defaults: Defaults): Resources {
  const given = resourcesFrom(requests);
  if (defaults === noDefaults || (requests !== undefined && "cpu" in requests && "memory" in requests)) return given;
  return {
    ...given,
    milliCpu: requests !== undefined && "cpu" in requests ? given.milliCpu : defaults.milliCpu,
    memoryBytes: requests !== undefined && "memory" in requests ? given.memoryBytes : defaults.memoryBytes,
  };
}

function statusesOf(pod: DeepReadonly<Pod>): ReadonlyMap<string, DeepReadonly<ContainerStatus>> | undefined {
  const { containerStatuses, initContainerStatuses } = pod.status ?? {};
  if (containerStatuses === undefined && initContainerStatuses === undefined) return undefined;
  return new Map([...(containerStatuses ?? []), ...(initContainerStatuses ?? [])].map((status) => [status.name, status]));
}

function isResizeInfeasible(pod: DeepReadonly<Pod>): boolean {
  return pod.status?.conditions?.some(({ type, reason }) => type === "PodResizePending" && reason === "Infeasible") === true;
}

const isPodLevelResource = (name: string) => name === "cpu" || name === "memory" || name.startsWith("hugepages-");

function hasPodLevelRequests(pod: DeepReadonly<Pod>): boolean {
  return Object.keys(pod.spec?.resources?.requests ?? {}).some(isPodLevelResource);
}

/** What the pod as a whole asks for stands in place of its containers' sum. */
function withPodLevel(pod: DeepReadonly<Pod>, sum: Resources): Resources {
  const requests = pod.spec?.resources?.requests;
  if (requests === undefined || !hasPodLevelRequests(pod)) return sum;
  const amount = (name: string) => {
    if (!(name in requests)) return resourceAmount(sum, name);
    const status = pod.status;
    const wanted = amountIn(requests, name);
    return isResizeInfeasible(pod)
      ? Math.max(amountIn(status?.allocatedResources, name), amountIn(status?.resources?.requests, name)) || wanted
      : Math.max(wanted, amountIn(status?.allocatedResources, name), amountIn(status?.resources?.requests, name));
  };
  const scalars = new Map(sum.scalars);
  for (const name of Object.keys(requests)) if (isPodLevelResource(name) && isScalarResource(name)) scalars.set(name, amount(name));
  return { ...sum, milliCpu: amount("cpu"), memoryBytes: amount("memory"), scalars: scalars.size === 0 ? undefined : scalars };
}

function withOverhead(pod: DeepReadonly<Pod>, requests: Resources): Resources {
  const overhead = pod.spec?.overhead;
  return overhead === undefined ? requests : addResources(requests, resourcesFrom(overhead));
}
