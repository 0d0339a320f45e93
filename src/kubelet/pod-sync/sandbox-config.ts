/** A pod's sandbox as the runtime is asked for it. Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { dnsConfig } from "../network/dns-config.ts";
import type { NodeDns } from "../network/dns-config.ts";
import { hostNames } from "../network/host-names.ts";
import { sandboxSecurityContext } from "../resources/security-context.ts";
import type { PodSandboxConfig, PortMapping } from "../runtime/cri-messages.ts";
import { containersOf, runtimeAnnotations, runtimeLabels } from "./runtime-names.ts";

export function sandboxConfig(pod: DeepReadonly<Pod>, attempt: number, node: { dns: NodeDns; logRoot: string; owner: string }): PodSandboxConfig {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const { sysctls = [] } = pod.spec?.securityContext ?? {};
  return {
    metadata: { name, namespace, uid, attempt },
    ...(pod.spec?.hostNetwork !== true && { hostname: hostNames(pod, node.dns.clusterDomain).hostname }),
    log_directory: logDirectory(pod, node.logRoot),
    dns_config: dnsConfig(pod, node.dns),
    port_mappings: pod.spec?.hostNetwork === true ? [] : portMappings(pod),
    labels: { ...pod.metadata.labels, [runtimeLabels.podName]: name, [runtimeLabels.podNamespace]: namespace, [runtimeLabels.podUid]: uid },
    annotations: { ...pod.metadata.annotations, [runtimeAnnotations.owner]: node.owner, [runtimeAnnotations.gracePeriod]: String(pod.spec?.terminationGracePeriodSeconds ?? 30) },
    linux: {
      security_context: sandboxSecurityContext(pod),
      ...(sysctls.length > 0 && { sysctls: Object.fromEntries(sysctls.map((sysctl) => [sysctl.name.replaceAll("/", "."), sysctl.value])) }),
    },
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
