/** nftables rules of the pod network: what leaves it takes the node's address, and Services' addresses lead nowhere but through the proxy. */
import { parseCidr } from "../apimachinery/net.ts";

export function networkTableName(instanceId: string): string {
  return `coracle-${instanceId}-network`;
}

export interface NetworkRules {
  readonly table: string;
  /** This node's ranges. */
  readonly podCidrs: readonly string[];
  /** The ranges of all pods: between them, and to nodes' multicast neighbours, addresses stay as they are. */
  readonly clusterCidrs: readonly string[];
  readonly serviceCidrs: readonly string[];
}

/**
 * A transaction that puts the table in the place of whatever is there. What is still on its way to a Service's address after the proxy's
 * rules is dropped: were it let out, the kernel would remember the flow as one without a Service, and every repeated datagram of it
 * would miss rules that the proxy adds a moment later.
 */
export function networkRules({ table, ...cidrs }: NetworkRules): string {
  return (["IPv4", "IPv6"] as const)
    .map((family) => {
      const ofFamily = (texts: readonly string[]) => texts.filter((text) => parseCidr(text)?.family === family).join(", ");
      const [pods, cluster, services] = [ofFamily(cidrs.podCidrs), ofFamily([...cidrs.clusterCidrs, ...cidrs.podCidrs]), ofFamily(cidrs.serviceCidrs)];
      if (pods === "") return "";
      const [ip, address, multicast] = family === "IPv4" ? ["ip", "ipv4_addr", "224.0.0.0/4"] : ["ip6", "ipv6_addr", "ff00::/8"];
      return `add table ${ip} ${table}
delete table ${ip} ${table}
table ${ip} ${table} {
  set pods { type ${address}; flags interval; auto-merge; elements = { ${pods} }; }
  set inside { type ${address}; flags interval; auto-merge; elements = { ${cluster}, ${multicast} }; }
  set services { type ${address}; flags interval; auto-merge;${services === "" ? "" : ` elements = { ${services} };`} }
  chain postrouting {
    type nat hook postrouting priority srcnat + 1;
    ${ip} saddr @pods ${ip} daddr != @inside masquerade fully-random
  }
  chain forward { type filter hook forward priority filter + 10; ${ip} daddr @services drop; }
  chain output { type filter hook output priority filter + 10; ${ip} daddr @services drop; }
}
`;
    })
    .join("");
}
