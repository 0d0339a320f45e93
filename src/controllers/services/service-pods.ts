import { deepEqual } from "../../apimachinery/json.ts";
import { matchesLabels, selectorFromLabels } from "../../apimachinery/selectors/label-selector.ts";
import { keyOf, resources } from "../../client/index.ts";
import { isFinished, isReady } from "../pods/pod-state.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import { ipFamilyOf } from "../../apimachinery/net.ts";
import type { Pod, Service, ServicePort } from "../../api/core-v1/types.ts";
import type { Change } from "../../client/index.ts";
import type { Caches } from "../../operator/index.ts";

/** Keys of the Services that choose a pod. */
export function servicesOfPod(pod: DeepReadonly<Pod>, caches: Caches): readonly string[] {
  const services = caches.of(resources.services).list(pod.metadata.namespace ?? "");
  return services.filter((service) => hasSelector(service) && matchesLabels(selectorFromLabels(service.spec?.selector ?? {}), pod.metadata.labels)).map(keyOf);
}

/** The pods that a Service chooses, by name. */
export function podsOfService(service: DeepReadonly<Service>, caches: Caches): readonly DeepReadonly<Pod>[] {
  const selector = selectorFromLabels(service.spec?.selector ?? {});
  const chosen = caches
    .of(resources.pods)
    .list(service.metadata.namespace ?? "")
    .filter(({ metadata }) => matchesLabels(selector, metadata.labels));
  return chosen.sort((left, right) => ((left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1));
}

/** Whether we keep the addresses of a Service: one without selector is its owner's affair, an external name has none. */
export function hasSelector({ spec }: DeepReadonly<Service>): boolean {
  return spec?.selector !== undefined && spec.type !== "ExternalName";
}

export function isHeadless({ spec }: DeepReadonly<Service>): boolean {
  return spec?.clusterIP === "None";
}

/** Whether a change of a pod can change the addresses of a Service. */
export function isAddressChange({ object, old }: Change<Pod>): boolean {
  return old === undefined || !deepEqual(addressPart(object), addressPart(old));
}

/** A pod that runs, or is about to, and has an address. */
export function hasAddress(pod: DeepReadonly<Pod>, countsTerminating: boolean): boolean {
  if (isFinished(pod) || addressesOf(pod).length === 0) return false;
  return countsTerminating || pod.metadata.deletionTimestamp === undefined;
}

export function addressOf(pod: DeepReadonly<Pod>, family: IpFamily): string | undefined {
  return addressesOf(pod).find((ip) => ipFamilyOf(ip) === family);
}

/** The container port that a Service port leads to in a pod; undefined when the pod has no port of that name. */
export function targetPort(pod: DeepReadonly<Pod>, port: DeepReadonly<ServicePort>): number | undefined {
  const target = port.targetPort ?? port.port;
  if (typeof target === "number") return target === 0 ? port.port : target;
  const sidecars = (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const { ports = [] } of [...(pod.spec?.containers ?? []), ...sidecars]) {
    for (const candidate of ports) {
      if (candidate.name === target && (candidate.protocol ?? "TCP") === (port.protocol ?? "TCP")) return candidate.containerPort;
    }
  }
  return undefined;
}

/** The name under which a headless Service of the pod's subdomain makes it known. */
export function hostnameIn(service: DeepReadonly<Service>, { spec, metadata }: DeepReadonly<Pod>): string | undefined {
  const isInDomain = spec?.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isInDomain && spec?.hostname !== "" ? spec?.hostname : undefined;
}

export const lastChangeAnnotation = "endpoints.kubernetes.io/last-change-trigger-time";
export const headlessLabel = "service.kubernetes.io/headless";

function addressesOf({ status }: DeepReadonly<Pod>): readonly string[] {
  const listed = (status?.podIPs ?? []).map(({ ip }) => ip ?? "").filter((ip) => ip !== "");
  const all = listed.length > 0 || status?.podIP === undefined || status.podIP === "" ? listed : [status.podIP];
  // Pods that are local processes listen on loopback, which endpoints may not name: the node's own forwarder looks for them.
  return all.filter((ip) => !ip.startsWith("127.") && ip !== "::1");
}

function addressPart(pod: DeepReadonly<Pod>): unknown {
  const { labels, deletionTimestamp, uid } = pod.metadata;
  const { nodeName, hostname, subdomain } = pod.spec ?? {};
  return { labels, deletionTimestamp, uid, nodeName, hostname, subdomain, addresses: addressesOf(pod), isFinished: isFinished(pod), isReady: isReady(pod) };
}
