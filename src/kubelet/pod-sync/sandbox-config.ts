/** A pod's sandbox as the runtime is asked for it. Pure. */
import { quantityMilli, quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { dnsConfig } from "../network/dns-config.ts";
import type { NodeDns } from "../network/dns-config.ts";
import { hostNames } from "../network/host-names.ts";
import type { PodCgroups } from "../cgroups/pod-cgroups.ts";
import { cpuShares } from "../resources/linux-resources.ts";
import { podLimits, podRequests } from "../resources/pod-requests.ts";
import type { Amounts } from "../resources/pod-requests.ts";
import { sandboxSecurityContext } from "../resources/security-context.ts";
import type { LinuxContainerResources, PodSandboxConfig, PortMapping } from "../runtime/cri-messages.ts";
import { containersOf, runtimeAnnotations, runtimeLabels } from "./runtime-names.ts";

export function sandboxConfig(pod: DeepReadonly<Pod>, attempt: number, node: SandboxNode): PodSandboxConfig {
  const cgroupParent = node.cgroups?.groupOf(pod);
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const { sysctls = [] } = pod.spec?.securityContext ?? {};
  return {
    metadata: { name, namespace, uid, attempt },
    ...(pod.spec?.hostNetwork !== true && { hostname: hostNames(pod, node.dns.clusterDomain).hostname }),
    log_directory: logDirectory(pod, node.logRoot),
    dns_config: dnsConfig(pod, node.dns),
    port_mappings: pod.spec?.hostNetwork === true ? [] : portMappings(pod),
    labels: { ...pod.metadata.labels, [runtimeLabels.podName]: name, [runtimeLabels.podNamespace]: namespace, [runtimeLabels.podUid]: uid },
    annotations: {
      ...pod.metadata.annotations,
      [runtimeAnnotations.owner]: node.owner,
      [runtimeAnnotations.gracePeriod]: String(pod.spec?.terminationGracePeriodSeconds ?? 30),
    },
    linux: {
      ...(cgroupParent !== undefined && { cgroup_parent: cgroupParent }),
      ...(pod.spec?.overhead !== undefined && {
        overhead: amounts(pod.spec.overhead, pod.spec.overhead),
        resources: amounts(podRequests(pod), podLimits(pod)),
      }),
      security_context: sandboxSecurityContext(pod),
      ...(sysctls.length > 0 && { sysctls: Object.fromEntries(sysctls.map((sysctl) => [sysctl.name.replaceAll("/", "."), sysctl.value])) }),
    },
  };
}

export interface SandboxNode {
  readonly dns: NodeDns;
  readonly logRoot: string;
  readonly owner: string;
  readonly cgroups?: Pick<PodCgroups, "groupOf">;
}

/** CPU and memory of a whole pod as the runtime is told them, for runtimes that make room beforehand. */
function amounts(requests: DeepReadonly<Amounts>, limits: DeepReadonly<Amounts>): LinuxContainerResources {
  const limitMilli = quantityMilli(limits["cpu"] ?? 0);
  const memory = quantityValue(limits["memory"] ?? 0);
  return {
    cpu_shares: cpuShares(quantityMilli(requests["cpu"] ?? 0)),
    ...(limitMilli > 0 && { cpu_period: 100_000, cpu_quota: limitMilli * 100 }),
    ...(memory > 0 && { memory_limit_in_bytes: memory }),
  };
}

/** Each container's logs lie below, in a folder of its name. */
export function logDirectory(pod: DeepReadonly<Pod>, logRoot: string): string {
  return `${logRoot}/${pod.metadata.namespace}_${pod.metadata.name}_${pod.metadata.uid}`;
}

function portMappings(pod: DeepReadonly<Pod>): PortMapping[] {
  return containersOf(pod).flatMap(({ container }) =>
    (container.ports ?? []).map((port) => ({
      protocol: (port.protocol ?? "TCP") as "TCP" | "UDP" | "SCTP",
      container_port: port.containerPort,
      ...(port.hostPort !== undefined && { host_port: port.hostPort }),
      ...(port.hostIP !== undefined && port.hostIP !== "" && { host_ip: port.hostIP }),
    })),
  );
}
