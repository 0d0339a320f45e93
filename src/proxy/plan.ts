/**
 * What a node's proxy has to do for one Service: its frontends (addresses and ports that clients use) and where each leads.
 * Pure; the rules are those of the fields `internalTrafficPolicy`, `externalTrafficPolicy`, `sessionAffinity`, `trafficDistribution`
 * (KEP-2086, KEP-1669, KEP-4444, KEP-3015) and of endpoint conditions (KEP-1672).
 */
import { cidrText, ipText, parseCidr, parseIp } from "../apimachinery/net.ts";
import type { IpFamily } from "../apimachinery/net.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Service, ServicePort } from "../api/core-v1/types.ts";
import type { EndpointSlice } from "../api/discovery-v1/types.ts";
import { backendsOf } from "./backends.ts";
import type { Backend, BackendChoice } from "./backends.ts";

/** Undefined for Services that are not this proxy's: headless ones, ExternalName, those with another proxy's label. */
export function planService(service: DeepReadonly<Service>, slices: readonly DeepReadonly<EndpointSlice>[], node: NodeView): ServicePlan | undefined {
  if (!isProxied(service)) return undefined;
  const name = `${service.metadata.namespace}/${service.metadata.name}`;
  const clusterAddresses = addressesOf(service.spec?.clusterIPs ?? [service.spec?.clusterIP ?? ""]);
  const frontends: Frontend[] = [];
  const localAddresses = new Set<string>();
  const readyLocal = new Set<string>();
  for (const { family, text } of clusterAddresses) {
    for (const port of service.spec?.ports ?? []) {
      const choice = backendsOf(slices, port, family, node);
      for (const { address, isLocal } of [...choice.cluster, ...choice.local]) if (isLocal) localAddresses.add(address);
      for (const address of choice.readyLocalAddresses) readyLocal.add(address);
      frontends.push(...frontendsOf({ service, name, port, family, clusterAddress: text, choice }));
    }
  }
  return {
    name,
    clusterAddresses: clusterAddresses.map(({ text }) => text),
    frontends,
    localAddresses: [...localAddresses].sort(),
    ...healthCheckOf(service, readyLocal.size),
  };
}

/** What the plan needs to know of the node. */
export interface NodeView {
  readonly nodeName: string;
  /** Label `topology.kubernetes.io/zone`. */
  readonly zone?: string;
}

export interface ServicePlan {
  /** `namespace/name`. */
  readonly name: string;
  readonly clusterAddresses: readonly string[];
  readonly frontends: readonly Frontend[];
  /** Addresses of backends on this node: those that may call the Service and be chosen themselves. */
  readonly localAddresses: readonly string[];
  readonly healthCheck?: HealthCheck;
}

/** Served at a Service's `healthCheckNodePort`. */
export interface HealthCheck {
  readonly port: number;
  readonly namespace: string;
  readonly name: string;
  readonly localEndpoints: number;
}

/** One address and port that clients use. Addresses are in canonical form. */
export interface Frontend {
  /** `namespace/name:port name`. */
  readonly service: string;
  readonly kind: "clusterIP" | "externalIP" | "loadBalancerIP" | "nodePort";
  readonly family: IpFamily;
  readonly protocol: Protocol;
  /** Empty for a node port: any address of the node. */
  readonly address: string;
  readonly port: number;
  readonly backends: readonly Backend[];
  /** What happens when `backends` is empty. */
  readonly ifEmpty: "reject" | "drop";
  /** Under the external policy Local: what pods and the node itself are led to. */
  readonly insideBackends?: readonly Backend[];
  /** Whose source address is replaced: everyone's, that of clients that are not pods, nobody's. */
  readonly masquerade: "always" | "outsiders" | "never";
  /** Session affinity by client address. */
  readonly affinitySeconds?: number;
  /** Only these may use it (canonical CIDRs). */
  readonly sourceRanges?: readonly string[];
}

export type Protocol = "tcp" | "udp" | "sctp";

const protocols: Readonly<Record<string, Protocol>> = { TCP: "tcp", UDP: "udp", SCTP: "sctp" };

function isProxied(service: DeepReadonly<Service>): boolean {
  const spec = service.spec;
  const labels = service.metadata.labels ?? {};
  if (spec === undefined || spec.type === "ExternalName" || Object.hasOwn(labels, "service.kubernetes.io/service-proxy-name")) return false;
  return spec.clusterIP !== undefined && spec.clusterIP !== "" && spec.clusterIP !== "None";
}

interface PortContext {
  readonly service: DeepReadonly<Service>;
  readonly name: string;
  readonly port: DeepReadonly<ServicePort>;
  readonly family: IpFamily;
  readonly clusterAddress: string;
  readonly choice: BackendChoice;
}

function frontendsOf(context: PortContext): Frontend[] {
  const { service, port, family, choice } = context;
  const protocol = protocols[port.protocol ?? "TCP"];
  if (protocol === undefined) return [];
  const common = { service: `${context.name}:${port.name ?? ""}`, family, protocol, ...affinityOf(service) };
  const ifEmpty = choice.hasAny ? "drop" : "reject";
  const frontends: Frontend[] = [
    {
      ...common,
      kind: "clusterIP",
      address: context.clusterAddress,
      port: port.port,
      backends: service.spec?.internalTrafficPolicy === "Local" ? choice.local : choice.cluster,
      ifEmpty,
      masquerade: "outsiders",
    },
  ];
  const isLocal = service.spec?.externalTrafficPolicy === "Local";
  const external: Omit<Frontend, "kind" | "address" | "port"> = isLocal
    ? { ...common, backends: choice.local, ifEmpty, insideBackends: choice.cluster, masquerade: "never" }
    : { ...common, backends: choice.cluster, ifEmpty, masquerade: "always" };
  for (const address of ofFamily(service.spec?.externalIPs ?? [], family)) frontends.push({ ...external, kind: "externalIP", address, port: port.port });
  for (const address of ofFamily(loadBalancerAddresses(service), family))
    frontends.push({ ...external, kind: "loadBalancerIP", address, port: port.port, ...sourceRangesOf(service, family) });
  if (port.nodePort !== undefined && port.nodePort > 0) frontends.push({ ...external, kind: "nodePort", address: "", port: port.nodePort });
  return frontends;
}

function affinityOf(service: DeepReadonly<Service>): { affinitySeconds?: number } {
  if (service.spec?.sessionAffinity !== "ClientIP") return {};
  return { affinitySeconds: service.spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800 };
}

/** Ingress addresses with ipMode Proxy belong to a load balancer that clients must pass (KEP-1860). */
function loadBalancerAddresses(service: DeepReadonly<Service>): string[] {
  if (service.spec?.type !== "LoadBalancer") return [];
  return (service.status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) => (ip === undefined || ip === "" || ipMode === "Proxy" ? [] : [ip]));
}

function sourceRangesOf(service: DeepReadonly<Service>, family: IpFamily): { sourceRanges?: readonly string[] } {
  const cidrs = (service.spec?.loadBalancerSourceRanges ?? []).map((text) => parseCidr(text.trim(), true)).filter((cidr) => cidr !== undefined);
  if (cidrs.length === 0) return {};
  return { sourceRanges: cidrs.filter((cidr) => cidr.family === family).map(cidrText) };
}

function healthCheckOf(service: DeepReadonly<Service>, localEndpoints: number): { healthCheck?: HealthCheck } {
  const { type, externalTrafficPolicy, healthCheckNodePort: port } = service.spec ?? {};
  if (type !== "LoadBalancer" || externalTrafficPolicy !== "Local" || port === undefined || port === 0) return {};
  return { healthCheck: { port, namespace: service.metadata.namespace ?? "", name: service.metadata.name ?? "", localEndpoints } };
}

/** Canonical texts: what comes from the API never reaches a rule as it was written. */
function addressesOf(texts: readonly string[]): { family: IpFamily; text: string }[] {
  return texts.flatMap((text) => {
    const address = parseIp(text, true);
    return address === undefined ? [] : [{ family: address.family, text: ipText(address) }];
  });
}

function ofFamily(texts: readonly string[], family: IpFamily): string[] {
  return addressesOf(texts).flatMap((address) => (address.family === family ? [address.text] : []));
}
