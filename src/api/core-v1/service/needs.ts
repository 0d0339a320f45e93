/** What a Service of a type has: addresses, node ports, a port for health checks, traffic from outside. */
import type { Service } from "../types.ts";

export function isHeadless({ spec = {} }: Service): boolean {
  return spec.clusterIP === "None" || (spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === "None");
}

export function needsClusterIp({ spec = {} }: Service): boolean {
  return spec.type === "ClusterIP" || spec.type === "NodePort" || spec.type === "LoadBalancer";
}

/** Whether the type is one that has node ports, allocated or not. */
export function mayHaveNodePorts({ spec = {} }: Service): boolean {
  return spec.type === "NodePort" || spec.type === "LoadBalancer";
}

export function needsNodePorts({ spec = {} }: Service): boolean {
  return spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

export function needsHealthCheckPort({ spec = {} }: Service): boolean {
  return spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

export function isExternallyAccessible({ spec = {} }: Service): boolean {
  return spec.type === "LoadBalancer" || spec.type === "NodePort" || (spec.type === "ClusterIP" && (spec.externalIPs ?? []).length > 0);
}
