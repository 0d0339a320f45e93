/** nftables rules of the pod network: what leaves it takes the node's address. */
import { parseCidr } from "../apimachinery/net.ts";

export function networkTableName(instanceId: string): string {
  return `coracle-${instanceId}-network`;
}

/**
 * A transaction that puts the table in the place of whatever is there. `clusterCidrs` are the ranges of all pods: between them, and to
 * nodes' multicast neighbours, addresses stay as they are.
 */
export function masqueradeRules(options: { table: string; podCidrs: readonly string[]; clusterCidrs: readonly string[] }): string {
  return (["IPv4", "IPv6"] as const)
    .map((family) => {
      const ofFamily = (cidrs: readonly string[]) => cidrs.filter((text) => parseCidr(text)?.family === family).join(", ");
      const [pods, cluster] = [ofFamily(options.podCidrs), ofFamily([...options.clusterCidrs, ...options.podCidrs])];
      if (pods === "") return "";
      const [ip, address, multicast] = family === "IPv4" ? ["ip", "ipv4_addr", "224.0.0.0/4"] : ["ip6", "ipv6_addr", "ff00::/8"];
      return `add table ${ip} ${options.table}
delete table ${ip} ${options.table}
table ${ip} ${options.table} {
  set pods { type ${address}; flags interval; auto-merge; elements = { ${pods} }; }
  set inside { type ${address}; flags interval; auto-merge; elements = { ${cluster}, ${multicast} }; }
  chain postrouting {
    type nat hook postrouting priority srcnat + 1;
    ${ip} saddr @pods ${ip} daddr != @inside masquerade fully-random
  }
}
`;
    })
    .join("");
}
