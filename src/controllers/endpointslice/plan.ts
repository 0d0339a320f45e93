import { deepEqual } from "../../apimachinery/json.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { controllerReference, edited, isNamespaceTerminating, referenceTo, resources } from "../../client/index.ts";
import { createAction, deleteAction, eventAction, nothingToDo, updateAction } from "../../operator/index.ts";
import { hasSelector, headlessLabel, isHeadless, lastChangeAnnotation } from "../services/service-pods.ts";
import { portGroups, portsKey } from "./endpoints-of-pods.ts";
import { withHints } from "./hints.ts";
import { packEndpoints } from "./pack.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import type { Service } from "../../api/core-v1/types.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/discovery-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";
import type { EndpointSource, PortGroup } from "./endpoints-of-pods.ts";

/**
 * The EndpointSlices of a Service with a selector (KEP-752): per address family and set of ports as many as are needed, 100 endpoints
 * each; one empty slice stays where there are none. Pods whose node is not there are left out, which an event tells.
 */
export function planEndpointSlices(snapshot: EndpointSliceSnapshot): Plan {
  const { service, slices } = snapshot;
  if (!hasSelector(service) || service.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const families = (service.spec?.ipFamilies ?? ["IPv4"]) as IpFamily[];
  const stale = slices.filter(({ addressType }) => !families.includes(addressType as IpFamily));
  const actions: Action[] = stale.map(deleteSlice);
  const faults: string[] = [];
  for (const family of families) {
    const { groups, nodeless } = portGroups(snapshot, family);
    actions.push(...planFamily(snapshot, family, groups));
    faults.push(...nodeless.map((pod) => `skipping Pod ${pod.metadata.name} for Service ${title(service)}: Node ${pod.spec?.nodeName ?? ""} Not Found`));
  }
  if (faults.length > 0) {
    const detail = faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`;
    const message = `Error updating Endpoint Slices for Service ${title(service)}: ${detail}`;
    actions.push(eventAction(referenceTo(resources.services, service), { type: "Warning", reason: "FailedToUpdateEndpointSlices", message }));
  }
  return { actions, reasons: faults };
}

export interface EndpointSliceSnapshot extends EndpointSource {
  /** Those of the Service that this controller manages. */
  readonly slices: readonly DeepReadonly<EndpointSlice>[];
  /** RFC 3339: when the oldest change happened that the slices do not show. */
  readonly triggerTime: string | undefined;
  readonly maxEndpointsPerSlice: number;
}

export const managedByLabel = "endpointslice.kubernetes.io/managed-by";
export const serviceNameLabel = "kubernetes.io/service-name";
export const sliceManager = "endpointslice-controller.k8s.io";

function planFamily(snapshot: EndpointSliceSnapshot, family: IpFamily, groups: readonly PortGroup[]): Action[] {
  const { service, maxEndpointsPerSlice } = snapshot;
  const open = new Map<string, DeepReadonly<EndpointSlice>[]>();
  const own = snapshot.slices.filter((slice) => slice.addressType === family && slice.metadata.deletionTimestamp === undefined);
  for (const slice of own) {
    const key = portsKey(slice.ports ?? []);
    open.set(key, [...(open.get(key) ?? []), slice]);
  }
  const actions: Action[] = [];
  // Slices that are not needed any more, which others may take the place of.
  const spare: DeepReadonly<EndpointSlice>[] = [];
  const fresh: { ports: readonly EndpointPort[]; endpoints: readonly Endpoint[] }[] = [];
  for (const { ports, endpoints } of groups.length === 0 ? [{ ports: [], endpoints: [] }] : groups) {
    const key = portsKey(ports);
    const packing = packEndpoints(withHints(service, endpoints), open.get(key) ?? [], maxEndpointsPerSlice);
    open.delete(key);
    const isPlaceholder = groups.length === 0;
    let needsPlaceholder = isPlaceholder;
    for (const { slice, endpoints: kept, isChanged } of packing.kept) {
      if (kept.length === 0 && !needsPlaceholder) spare.push(slice);
      else actions.push(...refreshSlice(snapshot, slice, ports, kept, isChanged));
      if (kept.length === 0) needsPlaceholder = false;
    }
    fresh.push(...packing.fresh.map((some) => ({ ports, endpoints: some })));
    if (needsPlaceholder) fresh.push({ ports, endpoints: [] });
  }
  spare.push(...[...open.values()].flat());
  for (const { ports, endpoints } of fresh) {
    const reused = spare.shift();
    if (reused === undefined) actions.push(createSlice(snapshot, family, ports, endpoints));
    else actions.push(...refreshSlice(snapshot, reused, ports, endpoints, true));
  }
  return [...actions, ...spare.map(deleteSlice)];
}

function refreshSlice(
  { service, triggerTime }: EndpointSliceSnapshot,
  slice: DeepReadonly<EndpointSlice>,
  ports: readonly EndpointPort[],
  endpoints: readonly Endpoint[],
  isChanged: boolean,
): Action[] {
  const labels = sliceLabels(service);
  const owners = [controllerReference(resources.services, service)];
  if (!isChanged && deepEqual(labels, slice.metadata.labels ?? {}) && deepEqual(owners, slice.metadata.ownerReferences ?? [])) return [];
  const updated = edited<EndpointSlice>(slice, (draft) => {
    const { [lastChangeAnnotation]: _time, ...annotations } = draft.metadata.annotations ?? {};
    draft.metadata.labels = labels;
    draft.metadata.ownerReferences = owners;
    draft.metadata.annotations = { ...annotations, ...(triggerTime !== undefined && { [lastChangeAnnotation]: triggerTime }) };
    draft.ports = [...ports];
    draft.endpoints = [...endpoints];
  });
  return [updateAction(resources.endpointSlices, updated)];
}

function createSlice(
  { service, triggerTime }: EndpointSliceSnapshot,
  addressType: IpFamily,
  ports: readonly EndpointPort[],
  endpoints: readonly Endpoint[],
): Action {
  const slice: EndpointSlice = {
    metadata: {
      generateName: `${service.metadata.name}-`,
      namespace: service.metadata.namespace ?? "",
      labels: sliceLabels(service),
      ...(triggerTime !== undefined && { annotations: { [lastChangeAnnotation]: triggerTime } }),
      ownerReferences: [controllerReference(resources.services, service)],
    },
    addressType,
    endpoints: [...endpoints],
    ports: [...ports],
  };
  return createAction(resources.endpointSlices, slice, { onError: (error) => ({ severity: isNamespaceTerminating(error) ? "ignore" : "continue" }) });
}

function deleteSlice(slice: DeepReadonly<EndpointSlice>): Action {
  return deleteAction(resources.endpointSlices, slice, {}, { onError: (error) => ({ severity: isNotFound(error) ? "ignore" : "continue" }) });
}

/** The Service's labels, and ours over them. What others put on a slice does not stay. */
function sliceLabels(service: DeepReadonly<Service>): Record<string, string> {
  const own = Object.entries(service.metadata.labels ?? {}).filter(([key]) => !reservedLabels.has(key));
  return {
    ...Object.fromEntries(own),
    [managedByLabel]: sliceManager,
    [serviceNameLabel]: service.metadata.name ?? "",
    ...(isHeadless(service) && { [headlessLabel]: "" }),
  };
}

const reservedLabels: ReadonlySet<string> = new Set([managedByLabel, serviceNameLabel, headlessLabel]);

function title({ metadata }: DeepReadonly<Service>): string {
  return `${metadata.namespace}/${metadata.name}`;
}
