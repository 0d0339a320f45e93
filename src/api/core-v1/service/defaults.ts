/** Defaults of Services (API reference "Service v1 core"). */
import type { Service } from "../types.ts";
import { isExternallyAccessible, needsClusterIp } from "./needs.ts";

const defaultAffinitySeconds = 10800;

export function applyServiceDefaults(service: Service): void {
  const spec = (service.spec ??= {});
  spec.sessionAffinity ||= "None";
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === "ClientIP") {
    const config = (spec.sessionAffinityConfig ??= {});
    (config.clientIP ??= {}).timeoutSeconds ??= defaultAffinitySeconds;
  }
  spec.type ||= "ClusterIP";
  for (const port of spec.ports ?? []) {
    port.protocol ||= "TCP";
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "") port.targetPort = port.port ?? 0;
  }
  if (isExternallyAccessible(service)) spec.externalTrafficPolicy ||= "Cluster";
  if (needsClusterIp(service)) spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
  if (spec.type === "LoadBalancer") for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= "VIP";
}
