/**
 * Where the forwarder listens. An ordinary user can bind neither a ClusterIP nor ports below 1024, so:
 * - a Service's address is the loopback address 127.X.c.d, where c.d are the last two bytes of its ClusterIP and X (128 to 254) comes
 *   from the instance: 10.0.3.7 is 127.X.3.7;
 * - a port that may not be bound is served at 8000 more: 80 at 8080, 443 at 8443 (unless the Service has that port itself);
 * - node ports are served on every address of the machine.
 * External and load balancer addresses, and IPv6, are left out.
 */
import { createHash } from "node:crypto";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { parseIp } from "../../apimachinery/net.ts";
import type { Service, ServicePort } from "../../api/core-v1/types.ts";
import type { Backend } from "../backends.ts";
import type { Frontend, Protocol, ServicePlan } from "../plan.ts";

export function listenPlan(plan: ServicePlan, options: ForwarderAddressing): Listen[] {
  const ports = new Set(plan.frontends.filter(({ kind }) => kind === "clusterIP").map(({ protocol, port }) => `${protocol} ${port}`));
  return plan.frontends.flatMap((frontend) => {
    const { protocol, backends, service, affinitySeconds } = frontend;
    const place = placeOf(frontend, ports, options);
    if (place === undefined || protocol === "sctp") return [];
    return [{ service, protocol, ...place, backends, ...(affinitySeconds !== undefined && { affinitySeconds }) }];
  });
}

/**
 * Node ports on the machine's own loopback addresses, for the kernel's rules: those cannot lead anywhere from there unless route_localnet
 * is set, which would open loopback to the network.
 */
export function loopbackNodePorts(plan: ServicePlan): Listen[] {
  return plan.frontends.flatMap(({ kind, family, protocol, port, service, backends, insideBackends = backends, affinitySeconds }) => {
    if (kind !== "nodePort" || protocol === "sctp") return [];
    return [
      {
        service,
        protocol,
        address: family === "IPv4" ? "127.0.0.1" : "::1",
        port,
        backends: insideBackends,
        ...(affinitySeconds !== undefined && { affinitySeconds }),
      },
    ];
  });
}

/** Where a port of a Service with a ClusterIP is reached from this machine; at the ClusterIP itself when the forwarder leaves it out. */
export function forwardedPlace(
  { spec }: DeepReadonly<Service>,
  { port, protocol = "TCP" }: DeepReadonly<ServicePort>,
  options: ForwarderAddressing,
): { address: string; port: number } {
  const ports = new Set((spec?.ports ?? []).map((other) => `${(other.protocol ?? "TCP").toLowerCase()} ${other.port}`));
  const address = spec?.clusterIP ?? "";
  return clusterPlace({ address, protocol: protocol.toLowerCase() as Protocol, port }, ports, options) ?? { address, port };
}

export interface ForwarderAddressing {
  readonly instanceId: string;
  /** Ports below may not be bound. */
  readonly firstBindablePort: number;
}

export interface Listen {
  readonly service: string;
  readonly protocol: Exclude<Protocol, "sctp">;
  readonly address: string;
  readonly port: number;
  readonly backends: readonly Backend[];
  readonly affinitySeconds?: number;
}

/** The loopback address that stands for a ClusterIP in runtime `process`; undefined for IPv6. */
export function serviceLoopbackAddress(clusterAddress: string, instanceId: string): string | undefined {
  const address = parseIp(clusterAddress, true);
  if (address?.family !== "IPv4") return undefined;
  const second = 128 + (createHash("sha256").update(instanceId).digest()[0]! % 127);
  return `127.${second}.${(address.bits >> 8n) & 0xffn}.${address.bits & 0xffn}`;
}

/** The port that stands for a Service's port there. */
export function serviceLoopbackPort(port: number, firstBindablePort: number): number {
  return port < firstBindablePort ? port + 8000 : port;
}

function placeOf(frontend: Frontend, ports: ReadonlySet<string>, options: ForwarderAddressing): { address: string; port: number } | undefined {
  if (frontend.family !== "IPv4") return undefined;
  if (frontend.kind === "nodePort") return { address: "0.0.0.0", port: frontend.port };
  return frontend.kind === "clusterIP" ? clusterPlace(frontend, ports, options) : undefined;
}

function clusterPlace(
  of: Pick<Frontend, "address" | "protocol" | "port">,
  ports: ReadonlySet<string>,
  options: ForwarderAddressing,
): { address: string; port: number } | undefined {
  const address = serviceLoopbackAddress(of.address, options.instanceId);
  if (address === undefined) return undefined;
  const port = serviceLoopbackPort(of.port, options.firstBindablePort);
  return port !== of.port && ports.has(`${of.protocol} ${port}`) ? undefined : { address, port };
}
