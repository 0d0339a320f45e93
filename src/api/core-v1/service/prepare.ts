/** What the server decides about a Service before it allocates addresses and ports. */
import type { Service, ServiceSpec } from "../types.ts";
import { isExternallyAccessible, mayHaveNodePorts, needsClusterIp, needsHealthCheckPort, needsNodePorts } from "./needs.ts";

/** `clusterIPs` follows the older `clusterIP`. */
export function syncClusterIps({ spec = {} }: Service, old: Service | undefined): void {
  const before = old?.spec ?? {};
  const { clusterIP = "" } = spec;
  if (old !== undefined && clusterIP !== (before.clusterIP ?? "") && isSameList(spec.clusterIPs, before.clusterIPs)) {
    if (clusterIP === "") delete spec.clusterIPs;
    else spec.clusterIPs = [clusterIP];
  } else if (clusterIP !== "" && (spec.clusterIPs ?? []).length === 0) {
    spec.clusterIPs = [clusterIP];
  }
}

/** Takes back what the old type needed and the new one does not, where the client left it as it was. */
export function dropFieldsOfOldType(service: Service, old: Service): void {
  const spec = service.spec!;
  const before = old.spec ?? {};
  const dropSame = (...fields: (keyof ServiceSpec)[]) => {
    for (const field of fields) if (JSON.stringify(spec[field] ?? null) === JSON.stringify(before[field] ?? null)) delete spec[field];
  };
  if (needsClusterIp(old) && !needsClusterIp(service)) {
    if (isSameList(spec.clusterIPs, before.clusterIPs) && (spec.clusterIP ?? "") === (before.clusterIP ?? "")) dropSame("clusterIP", "clusterIPs");
    dropSame("ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy");
  }
  if (mayHaveNodePorts(old) && !mayHaveNodePorts(service) && isSameList(nodePorts(spec), nodePorts(before)))
    for (const port of spec.ports ?? []) delete port.nodePort;
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(service)) dropSame("healthCheckNodePort");
  if (before.type === "LoadBalancer" && spec.type !== "LoadBalancer") dropSame("allocateLoadBalancerNodePorts", "loadBalancerClass");
  if (isExternallyAccessible(old) && !isExternallyAccessible(service)) dropSame("externalTrafficPolicy");
  if (spec.type !== "LoadBalancer" && before.type === "LoadBalancer") service.status = {};
}

/** Takes from the stored Service what was allocated to it and the client did not repeat. */
export function keepAllocated(service: Service, old: Service): void {
  const spec = service.spec!;
  const before = old.spec ?? {};
  if (needsClusterIp(old) && needsClusterIp(service)) {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === before.clusterIP && before.clusterIPs !== undefined)
      spec.clusterIPs = [...before.clusterIPs];
    if (spec.ipFamilyPolicy === undefined && before.ipFamilyPolicy !== undefined) spec.ipFamilyPolicy = before.ipFamilyPolicy;
    if ((spec.ipFamilies ?? []).length === 0 && before.ipFamilies !== undefined) spec.ipFamilies = [...before.ipFamilies];
  }
  if (needsNodePorts(old) && needsNodePorts(service)) keepNodePorts(spec, before);
  if (needsHealthCheckPort(old) && needsHealthCheckPort(service) && !spec.healthCheckNodePort && before.healthCheckNodePort)
    spec.healthCheckNodePort = before.healthCheckNodePort;
}

/** Going from two families to one drops the second of what the client left as it was. */
export function trimToSingleStack({ spec = {} }: Service, { spec: before = {} }: Service): void {
  if (spec.ipFamilyPolicy !== "SingleStack" || before.ipFamilyPolicy === undefined || before.ipFamilyPolicy === "SingleStack") return;
  if ((spec.clusterIPs ?? []).length > 1 && isSameList(spec.clusterIPs, before.clusterIPs)) spec.clusterIPs = spec.clusterIPs!.slice(0, 1);
  if ((spec.ipFamilies ?? []).length > 1 && isSameList(spec.ipFamilies, before.ipFamilies)) spec.ipFamilies = spec.ipFamilies!.slice(0, 1);
}

function keepNodePorts(spec: ServiceSpec, before: ServiceSpec): void {
  const known = new Set(nodePorts(before));
  const used = new Set(nodePorts(spec).filter((port) => known.has(port)));
  for (const port of spec.ports ?? []) {
    if (port.nodePort) continue;
    const old = before.ports?.findLast(({ name = "" }) => name === (port.name ?? ""))?.nodePort;
    if (old === undefined || old === 0 || used.has(old)) continue;
    port.nodePort = old;
    used.add(old);
  }
}

function nodePorts(spec: ServiceSpec): number[] {
  return (spec.ports ?? []).map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0);
}

function isSameList(left: readonly unknown[] | undefined, right: readonly unknown[] | undefined): boolean {
  return JSON.stringify(left ?? []) === JSON.stringify(right ?? []);
}
