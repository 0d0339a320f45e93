/**
 * Endpoints of pods that are local processes. Their addresses are loopback ones, which no EndpointSlice may hold (the API refuses
 * them), so the forwarder reads them off the pods themselves.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, Service, ServicePort } from "../../api/core-v1/types.ts";
import type { Endpoint, EndpointSlice } from "../../api/discovery-v1/types.ts";

/** What the slices of a Service with a selector would be: one slice for each pod. `pods` are those of its namespace. */
export function loopbackSlices(service: DeepReadonly<Service>, pods: readonly DeepReadonly<Pod>[]): EndpointSlice[] {
  const selector = Object.entries(service.spec?.selector ?? {});
  if (selector.length === 0) return [];
  return pods.flatMap((pod) => {
    const labels = pod.metadata.labels ?? {};
    const address = pod.status?.podIP ?? "";
    if (!address.startsWith("127.") || selector.some(([key, value]) => labels[key] !== value)) return [];
    if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return [];
    return [
      {
        metadata: {},
        addressType: "IPv4",
        endpoints: [endpointOf(service, pod, address)],
        ports: (service.spec?.ports ?? []).map((port) => portOf(port, pod)),
      },
    ];
  });
}

function endpointOf(service: DeepReadonly<Service>, pod: DeepReadonly<Pod>, address: string): Endpoint {
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (isReady && !terminating);
  return {
    addresses: [address],
    conditions: { ready, serving: isReady, terminating },
    ...(pod.spec?.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
  };
}

/** A named target port is that of the pod's container port of the name; without one the pod has none for this Service port. */
function portOf(port: DeepReadonly<ServicePort>, pod: DeepReadonly<Pod>): { name: string; protocol: string; port?: number } {
  const protocol = port.protocol ?? "TCP";
  const target = port.targetPort ?? port.port;
  const named = (pod.spec?.containers ?? [])
    .flatMap(({ ports = [] }) => ports)
    .find((candidate) => candidate.name === target && (candidate.protocol ?? "TCP") === protocol)?.containerPort;
  const number = typeof target === "number" ? target : named;
  return { name: port.name ?? "", protocol, ...(number !== undefined && { port: number }) };
}
