import { deepEqual } from "../../apimachinery/json.ts";
import { ipFamilyOf } from "../../apimachinery/net.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { controllerReference, edited, isNamespaceTerminating, resources } from "../../client/index.ts";
import { createAction, deleteAction, nothingToDo, updateAction } from "../../operator/index.ts";
import { packEndpoints } from "../endpointslice/pack.ts";
import { portsKey } from "../endpointslice/endpoints-of-pods.ts";
import { managedByLabel, serviceNameLabel } from "../endpointslice/plan.ts";
import { lastChangeAnnotation } from "../services/service-pods.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { EndpointAddress, Endpoints, EndpointSubset, Service } from "../../api/core-v1/types.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/discovery-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** The EndpointSlices that repeat Endpoints which people keep themselves, for Services without a selector (KEP-752). */
export function planMirror({ endpoints, service, slices }: MirrorSnapshot): Plan {
  if (endpoints === undefined || service === undefined || !isMirrored(endpoints, service)) {
    return slices.length === 0 ? nothingToDo : { actions: slices.map(deleteSlice) };
  }
  const actions: Action[] = [];
  const open = new Map<string, DeepReadonly<EndpointSlice>[]>();
  for (const slice of slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
    const key = groupKey(slice.addressType ?? "", slice.ports ?? []);
    open.set(key, [...(open.get(key) ?? []), slice]);
  }
  for (const { addressType, ports, endpoints: wanted } of groupsOf(endpoints)) {
    const key = groupKey(addressType, ports);
    const packing = packEndpoints(wanted, open.get(key) ?? [], endpointLimit);
    open.delete(key);
    for (const { slice, endpoints: kept, isChanged } of packing.kept) {
      if (kept.length === 0) actions.push(deleteSlice(slice));
      else actions.push(...refreshed(endpoints, slice, kept, isChanged));
    }
    actions.push(...packing.fresh.map((some) => creation(endpoints, { addressType, ports, endpoints: [...some] })));
  }
  return { actions: [...actions, ...[...open.values()].flat().map(deleteSlice)] };
}

export interface MirrorSnapshot {
  readonly endpoints: DeepReadonly<Endpoints> | undefined;
  readonly service: DeepReadonly<Service> | undefined;
  /** Those that this controller made for the Service. */
  readonly slices: readonly DeepReadonly<EndpointSlice>[];
}

export const mirrorManager = "endpointslicemirroring-controller.k8s.io";

const endpointLimit = 1000;
const unmirroredAnnotations: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration", lastChangeAnnotation]);

function isMirrored({ metadata }: DeepReadonly<Endpoints>, { spec }: DeepReadonly<Service>): boolean {
  if (metadata.labels?.["endpointslice.kubernetes.io/skip-mirror"] === "true") return false;
  if (metadata.annotations?.["control-plane.alpha.kubernetes.io/leader"] !== undefined || metadata.deletionTimestamp !== undefined) return false;
  return spec?.selector === undefined;
}

interface Group {
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Endpoint[];
}

/** Addresses of one family and one set of ports together. */
function groupsOf({ subsets = [] }: DeepReadonly<Endpoints>): Group[] {
  const groups = new Map<string, Group>();
  for (const subset of subsets ?? []) {
    const ports = portsOf(subset);
    let left = endpointLimit;
    for (const [addresses, ready] of [
      [subset.addresses ?? [], true],
      [subset.notReadyAddresses ?? [], false],
    ] as const) {
      for (const address of addresses) {
        const addressType = ipFamilyOf(address.ip ?? "");
        if (addressType === undefined || left <= 0) continue;
        left -= 1;
        const key = groupKey(addressType, ports);
        const group = groups.get(key) ?? { addressType, ports, endpoints: [] };
        groups.set(key, group);
        group.endpoints.push(endpointOf(address, ready));
      }
    }
  }
  return [...groups.values()];
}

function portsOf({ ports = [] }: DeepReadonly<EndpointSubset>): EndpointPort[] {
  return (ports ?? []).map(({ name = "", port, protocol = "TCP", appProtocol }) => ({
    name,
    protocol,
    port,
    ...(appProtocol !== undefined && { appProtocol }),
  })) as EndpointPort[];
}

function endpointOf({ ip, hostname, nodeName, targetRef }: DeepReadonly<EndpointAddress>, ready: boolean): Endpoint {
  return {
    addresses: [ip ?? ""],
    conditions: { ready },
    ...(hostname !== undefined && hostname !== "" && { hostname }),
    ...(targetRef !== undefined && { targetRef: { ...targetRef } }),
    ...(nodeName !== undefined && { nodeName }),
  };
}

function refreshed(endpoints: DeepReadonly<Endpoints>, slice: DeepReadonly<EndpointSlice>, kept: readonly Endpoint[], isChanged: boolean): Action[] {
  const labels = labelsOf(endpoints);
  const annotations = annotationsOf(endpoints);
  if (!isChanged && deepEqual(labels, slice.metadata.labels ?? {}) && deepEqual(annotations, slice.metadata.annotations ?? {})) return [];
  const updated = edited<EndpointSlice>(slice, (draft) => {
    draft.metadata.labels = labels;
    draft.metadata.annotations = annotations;
    draft.endpoints = [...kept];
  });
  return [updateAction(resources.endpointSlices, updated)];
}

function creation(endpoints: DeepReadonly<Endpoints>, { addressType, ports, endpoints: wanted }: Group): Action {
  const annotations = annotationsOf(endpoints);
  const slice: EndpointSlice = {
    metadata: {
      generateName: `${endpoints.metadata.name}-`,
      namespace: endpoints.metadata.namespace ?? "",
      labels: labelsOf(endpoints),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [controllerReference(resources.endpoints, endpoints)],
    },
    addressType,
    endpoints: wanted,
    ports: [...ports],
  };
  return createAction(resources.endpointSlices, slice, { onError: (error) => ({ severity: isNamespaceTerminating(error) ? "ignore" : "continue" }) });
}

function labelsOf({ metadata }: DeepReadonly<Endpoints>): Record<string, string> {
  return { ...metadata.labels, [managedByLabel]: mirrorManager, [serviceNameLabel]: metadata.name ?? "" };
}

function annotationsOf({ metadata }: DeepReadonly<Endpoints>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !unmirroredAnnotations.has(key)));
}

function groupKey(addressType: string, ports: readonly DeepReadonly<EndpointPort>[]): string {
  return `${addressType} ${portsKey(ports)}`;
}

function deleteSlice(slice: DeepReadonly<EndpointSlice>): Action {
  return deleteAction(resources.endpointSlices, slice, {}, { onError: (error) => ({ severity: isNotFound(error) ? "ignore" : "continue" }) });
}
