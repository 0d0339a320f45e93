/** What a pod's resolv.conf says (documentation page "DNS for Services and Pods"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";

export function dnsConfig(pod: DeepReadonly<Pod>, node: NodeDns): DnsConfig {
  const base = policyConfig(pod, node);
  const extra = pod.spec?.dnsConfig;
  const options = new Map(base.options.map((option): [string, string] => [option.split(":")[0]!, option]));
  for (const { name = "", value } of extra?.options ?? []) {
    const option = value === undefined || value === "" ? name : `${name}:${value}`;
    // The API takes any text; what is not one word would be another line, or another option.
    if (/^[\x21-\x7e]+$/.test(option)) options.set(name, option);
  }
  return {
    servers: unique([...base.servers, ...(extra?.nameservers ?? [])]),
    searches: unique([...base.searches, ...(extra?.searches ?? [])]).slice(0, maxSearches),
    options: [...options.values()],
  };
}

export interface DnsConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface NodeDns {
  readonly clusterServers: readonly string[];
  readonly clusterDomain: string;
  /** The node's own resolv.conf. */
  readonly host: DnsConfig;
}

/** As much of resolv.conf(5) as counts here. */
export function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split("\n")) {
    const [word, ...values] = line.trim().split(/\s+/);
    if (word === "nameserver" && values[0] !== undefined) servers.push(values[0]);
    else if (word === "search") searches = values.filter((value) => value !== ".");
    else if (word === "options") options = values;
  }
  return { servers, searches, options };
}

const maxSearches = 32;

function policyConfig(pod: DeepReadonly<Pod>, node: NodeDns): DnsConfig {
  const policy = pod.spec?.dnsPolicy ?? "ClusterFirst";
  if (policy === "None") return { servers: [], searches: [], options: [] };
  const isCluster = policy === "ClusterFirstWithHostNet" || (policy === "ClusterFirst" && pod.spec?.hostNetwork !== true);
  if (!isCluster || node.clusterServers.length === 0) return node.host;
  const { clusterDomain } = node;
  const searches = [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain, ...node.host.searches];
  return { servers: node.clusterServers, searches: unique(searches), options: ["ndots:5"] };
}

const unique = (list: readonly string[]) => [...new Set(list)];
