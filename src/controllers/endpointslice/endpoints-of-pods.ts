import { isReady } from "../pods/pod-state.ts";
import { addressOf, hasAddress, hostnameIn, targetPort } from "../services/service-pods.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import type { Node, Pod, Service } from "../../api/core-v1/types.ts";
import type { Endpoint, EndpointPort } from "../../api/discovery-v1/types.ts";

/** Endpoints that share the same ports: pods may give the same port name different numbers. */
export interface PortGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

export interface EndpointSource {
  readonly service: DeepReadonly<Service>;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly nodeOf: (name: string) => DeepReadonly<Node> | undefined;
}

/** The endpoints of one address family, grouped by their ports; and the pods left out because their node is not there. */
export function portGroups({ service, pods, nodeOf }: EndpointSource, family: IpFamily): { groups: PortGroup[]; nodeless: DeepReadonly<Pod>[] } {
  const groups = new Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>();
  const nodeless: DeepReadonly<Pod>[] = [];
  for (const pod of pods) {
    const address = hasAddress(pod, true) ? addressOf(pod, family) : undefined;
    if (address === undefined) continue;
    const node = nodeOf(pod.spec?.nodeName ?? "");
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
      nodeless.push(pod);
      continue;
    }
    const ports = portsOf(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    group.endpoints.push(endpointOf(service, pod, address, node));
  }
  return { groups: [...groups.values()], nodeless };
}

/** Equal for equal ports. */
export function portsKey(ports: readonly DeepReadonly<EndpointPort>[]): string {
  const texts = ports.map(({ name = "", protocol = "", port, appProtocol = "" }) => JSON.stringify([name, protocol, port, appProtocol]));
  return texts.sort().join();
}

function portsOf(service: DeepReadonly<Service>, pod: DeepReadonly<Pod>): EndpointPort[] {
  const ports: EndpointPort[] = [];
  for (const servicePort of service.spec?.ports ?? []) {
    const port = targetPort(pod, servicePort);
    if (port === undefined) continue;
    const { name = "", protocol = "TCP", appProtocol } = servicePort;
    ports.push({ name, protocol, port, ...(appProtocol !== undefined && { appProtocol }) });
  }
  return ports.sort((left, right) => ((left.name ?? "") < (right.name ?? "") ? -1 : 1));
}

function endpointOf(service: DeepReadonly<Service>, pod: DeepReadonly<Pod>, address: string, node: DeepReadonly<Node> | undefined): Endpoint {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const zone = node?.metadata.labels?.["topology.kubernetes.io/zone"];
  const hostname = hostnameIn(service, pod);
  const { nodeName } = pod.spec ?? {};
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  return {
    addresses: [address],
    conditions: { ready: service.spec?.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName !== undefined && nodeName !== "" && { nodeName }),
    ...(zone !== undefined && zone !== "" && { zone }),
  };
}
