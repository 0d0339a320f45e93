/** A pod's host name and its hosts file (API fields `hostname`, `subdomain`, `hostAliases`). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";

export interface HostNames {
  readonly hostname: string;
  /** Empty without a subdomain. */
  readonly domain: string;
}

export function hostNames(pod: DeepReadonly<Pod>, clusterDomain: string): HostNames {
  const { hostname, subdomain, hostnameOverride, setHostnameAsFQDN } = pod.spec ?? {};
  if (hostnameOverride !== undefined && hostnameOverride !== "") return { hostname: hostnameOverride, domain: "" };
  // Linux keeps at most 63 characters.
  const short = hostname !== undefined && hostname !== "" ? hostname : (pod.metadata.name ?? "").slice(0, 63).replace(/[-.]+$/, "");
  const domain = subdomain === undefined || subdomain === "" ? "" : `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`;
  return { hostname: setHostnameAsFQDN === true && domain !== "" ? `${short}.${domain}` : short, domain };
}

/** `/etc/hosts` of a pod with addresses of its own. */
export function hostsFile(pod: DeepReadonly<Pod>, podIPs: readonly string[], { hostname, domain }: HostNames): string {
  const lines = [
    "# Kubernetes-managed hosts file.",
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    "fe00::0\tip6-localnet",
    "fe00::0\tip6-mcastprefix",
    "fe00::1\tip6-allnodes",
    "fe00::2\tip6-allrouters",
    ...podIPs.map((ip) => (domain === "" || hostname.endsWith(domain) ? `${ip}\t${hostname}` : `${ip}\t${hostname}.${domain}\t${hostname}`)),
  ];
  return `${lines.join("\n")}\n${aliasLines(pod)}`;
}

/** For pods on the node's network: the node's file and the pod's aliases. */
export function hostNetworkHostsFile(pod: DeepReadonly<Pod>, nodeFile: string): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeFile}${aliasLines(pod)}`;
}

function aliasLines(pod: DeepReadonly<Pod>): string {
  const aliases = pod.spec?.hostAliases ?? [];
  if (aliases.length === 0) return "";
  return `\n# Entries added by HostAliases.\n${aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join("\t")}\n`).join("")}`;
}
