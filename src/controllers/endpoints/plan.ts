import { deepEqual } from "../../apimachinery/json.ts";
import { isForbidden, isNotFound } from "../../apimachinery/status.ts";
import { edited, isNamespaceTerminating, referenceTo, resources } from "../../client/index.ts";
import { createAction, deleteAction, eventAction, nothingToDo, updateAction } from "../../operator/index.ts";
import { isReady } from "../pods/pod-state.ts";
import { addressOf, hasAddress, hasSelector, headlessLabel, hostnameIn, isHeadless, lastChangeAnnotation, targetPort } from "../services/service-pods.ts";
import { addressCount, packSubsets, truncated } from "./subsets.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import type { EndpointAddress, Endpoints, EndpointSubset, Pod, Service } from "../../api/core-v1/types.ts";
import type { Action, ErrorDecision, Plan } from "../../operator/index.ts";
import type { Binding } from "./subsets.ts";

/** The Endpoints of a Service with a selector: what EndpointSlices tell in the old form, one family, at most 1,000 addresses. */
export function planEndpoints({ service, endpoints, pods, triggerTime }: EndpointsSnapshot): Plan {
  if (service === undefined) return endpoints?.metadata.labels?.[managedByLabel] === manager ? { actions: [removal(endpoints)] } : nothingToDo;
  if (!hasSelector(service) || service.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const complete = packSubsets(pods.flatMap((pod) => bindingsOf(service, pod)));
  const isTooMany = addressCount(complete, "addresses") + addressCount(complete, "notReadyAddresses") > addressLimit;
  const subsets = isTooMany ? truncated(complete, addressLimit) : complete;
  const labels: Record<string, string> = {
    ...Object.fromEntries(Object.entries(service.metadata.labels ?? {}).filter(([key]) => key !== headlessLabel)),
    [managedByLabel]: manager,
    ...(isHeadless(service) && { [headlessLabel]: "" }),
  };
  const annotations = annotationsOf(endpoints, triggerTime, isTooMany);
  if (endpoints === undefined) return { actions: [creation(service, { labels, annotations, subsets })] };
  const isMarked = (endpoints.metadata.annotations?.[capacityAnnotation] === "truncated") === isTooMany;
  if (isMarked && deepEqual(subsets, endpoints.subsets ?? []) && deepEqual(labels, endpoints.metadata.labels ?? {})) return nothingToDo;
  const updated = edited<Endpoints>(endpoints, (draft) => {
    draft.metadata.labels = labels;
    draft.metadata.annotations = annotations;
    draft.subsets = subsets;
  });
  return { actions: [updateAction(resources.endpoints, updated, { onError: (error) => whenWritingFails(service, error, "update") })] };
}

export interface EndpointsSnapshot {
  readonly service: DeepReadonly<Service> | undefined;
  readonly endpoints: DeepReadonly<Endpoints> | undefined;
  /** Those the Service chooses. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** RFC 3339: when the oldest change happened that the Endpoints do not show. */
  readonly triggerTime: string | undefined;
}

const managedByLabel = "endpoints.kubernetes.io/managed-by";
const manager = "endpoint-controller";
const capacityAnnotation = "endpoints.kubernetes.io/over-capacity";
const addressLimit = 1000;

function bindingsOf(service: DeepReadonly<Service>, pod: DeepReadonly<Pod>): Binding[] {
  const publishesAll = service.spec?.publishNotReadyAddresses === true;
  const family = (service.spec?.ipFamilies?.[0] ?? "IPv4") as IpFamily;
  const ip = hasAddress(pod, publishesAll) ? addressOf(pod, family) : undefined;
  if (ip === undefined) return [];
  const address = endpointAddress(service, pod, ip);
  const ready = publishesAll || isReady(pod);
  const ports = service.spec?.ports ?? [];
  if (ports.length === 0) return isHeadless(service) ? [{ address, isReady: ready, port: undefined }] : [];
  return ports.flatMap((servicePort): Binding[] => {
    const port = targetPort(pod, servicePort);
    if (port === undefined) return [];
    const { name, protocol = "TCP", appProtocol } = servicePort;
    return [{ address, isReady: ready, port: { ...(name !== undefined && { name }), port, protocol, ...(appProtocol !== undefined && { appProtocol }) } }];
  });
}

function endpointAddress(service: DeepReadonly<Service>, pod: DeepReadonly<Pod>, ip: string): EndpointAddress {
  const hostname = hostnameIn(service, pod);
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  return {
    ip,
    ...(hostname !== undefined && { hostname }),
    nodeName: pod.spec?.nodeName ?? "",
    targetRef: { kind: "Pod", namespace, name, uid },
  };
}

function annotationsOf(endpoints: DeepReadonly<Endpoints> | undefined, triggerTime: string | undefined, isTooMany: boolean): Record<string, string> {
  const { [lastChangeAnnotation]: _time, [capacityAnnotation]: _capacity, ...others } = endpoints?.metadata.annotations ?? {};
  return { ...others, ...(triggerTime !== undefined && { [lastChangeAnnotation]: triggerTime }), ...(isTooMany && { [capacityAnnotation]: "truncated" }) };
}

function creation(
  service: DeepReadonly<Service>,
  { labels, annotations, subsets }: { labels: Record<string, string>; annotations: Record<string, string>; subsets: EndpointSubset[] },
): Action {
  const { name = "", namespace = "" } = service.metadata;
  const metadata = { name, namespace, labels, ...(Object.keys(annotations).length > 0 && { annotations }) };
  const wanted: Endpoints = { metadata, ...(subsets.length > 0 && { subsets }) };
  return createAction(resources.endpoints, wanted, { onError: (error) => whenWritingFails(service, error, "create") });
}

function removal(endpoints: DeepReadonly<Endpoints>): Action {
  return deleteAction(resources.endpoints, endpoints, {}, { onError: (error) => ({ severity: isNotFound(error) ? "ignore" : "stop" }) });
}

function whenWritingFails(service: DeepReadonly<Service>, error: Error, verb: "create" | "update"): ErrorDecision {
  if (isNamespaceTerminating(error)) return { severity: "ignore" };
  const isTold = verb === "update" || isForbidden(error);
  const reason = verb === "create" ? "FailedToCreateEndpoint" : "FailedToUpdateEndpoint";
  const message = `Failed to ${verb} endpoint for service ${service.metadata.namespace}/${service.metadata.name}: ${error.message}`;
  return { severity: "stop", ...(isTold && { actions: [eventAction(referenceTo(resources.services, service), { type: "Warning", reason, message })] }) };
}
