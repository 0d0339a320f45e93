import { quantityValue } from "../../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Lister } from "../../../client/index.ts";
import type { Container, ContainerExtendedResourceRequest } from "../../../api/core-v1/types.ts";
import type { DeviceClass, DeviceRequest, ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodInfo } from "../../state/pod-info.ts";

/**
 * Extended resources that device classes serve (KEP-5004): a pod asks for a number of a resource as ever, and gets devices of the class through a
 * claim that the scheduler makes, on nodes where no device plugin offers the resource.
 */
export type ServedResources = ReadonlyMap<string, string>;

/** Of the resources that a pod asks for those that a class serves, with the class's name. */
export function servedResources({ requests }: PodInfo, classes: Lister<DeviceClass>): ServedResources {
  if (requests.scalars === undefined) return none;
  const served = new Map<string, string>();
  for (const name of requests.scalars.keys()) {
    const className = classFor(name, classes);
    if (className !== undefined) served.set(name, className);
  }
  return served;
}

const none: ServedResources = new Map();

/** Whether a node leaves a resource to devices: it has none of its own. */
export function isLeftToDevices(name: string, node: NodeInfo): boolean {
  return (node.allocatable.scalars?.get(name) ?? 0) === 0;
}

/** The claim for what a node leaves to devices; undefined when it offers all of it itself. It is not in the API yet. */
export function extendedClaim(pod: PodInfo, served: ServedResources, node: NodeInfo): ExtendedClaim | undefined {
  const requests: DeviceRequest[] = [];
  const mappings: ContainerExtendedResourceRequest[] = [];
  const { initContainers = [], containers = [] } = pod.pod.spec ?? {};
  for (const [position, container] of [...initContainers, ...containers].entries()) {
    for (const [index, { resourceName, count }] of wantedBy(container, served, node).entries()) {
      const requestName = `container-${position}-request-${index}`;
      requests.push({ name: requestName, exactly: { deviceClassName: served.get(resourceName)!, allocationMode: "ExactCount", count } });
      mappings.push({ containerName: container.name, resourceName, requestName });
    }
  }
  if (requests.length === 0) return undefined;
  const claim: ResourceClaim = {
    metadata: {
      namespace: pod.namespace,
      name: `${pod.name}${suffix}`,
      generateName: `${pod.name}${suffix}`,
      annotations: { "resource.kubernetes.io/extended-resource-claim": "true" },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid, controller: true }],
    },
    spec: { devices: { requests } },
  };
  return { claim, mappings };
}

export interface ExtendedClaim {
  readonly claim: DeepReadonly<ResourceClaim>;
  /** Which request of the claim stands for which resource of a container. */
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

const suffix = "-extended-resources-";
const implicitPrefix = "deviceclass.resource.kubernetes.io/";

/** The class that serves a resource: by its own name, or the newest one that says so. */
function classFor(resource: string, classes: Lister<DeviceClass>): string | undefined {
  if (resource.startsWith(implicitPrefix)) return classes.get("", resource.slice(implicitPrefix.length))?.metadata.name;
  let best: DeepReadonly<DeviceClass> | undefined;
  for (const one of classes.list()) if (one.spec?.extendedResourceName === resource && (best === undefined || isPreferred(one, best))) best = one;
  return best?.metadata.name;
}

function isPreferred({ metadata: left }: DeepReadonly<DeviceClass>, { metadata: right }: DeepReadonly<DeviceClass>): boolean {
  const [leftTime = "", rightTime = ""] = [left.creationTimestamp, right.creationTimestamp];
  return leftTime === rightTime ? (left.name ?? "") < (right.name ?? "") : leftTime > rightTime;
}

function wantedBy({ resources }: DeepReadonly<Container>, served: ServedResources, node: NodeInfo): readonly { resourceName: string; count: number }[] {
  return Object.entries(resources?.requests ?? {})
    .filter(([name]) => served.has(name) && isLeftToDevices(name, node))
    .map(([resourceName, amount]) => ({ resourceName, count: quantityValue(amount) }))
    .filter(({ count }) => count > 0)
    .toSorted((left, right) => (left.resourceName < right.resourceName ? -1 : 1));
}
