/**
 * What a node's pod network needs of the machine: the bridge with its gateway address (there before the first pod, so that the DNS
 * server can listen on it), forwarding, masquerading, and a route for Services' addresses on machines that have no default route.
 */
import { readFile, writeFile } from "node:fs/promises";
import type { Log } from "../base/log.ts";
import { createNetworkNamespaces, createNft, NftError } from "../host/index.ts";
import type { NetworkNamespaces, Programs } from "../host/index.ts";
import { cidrContains, cidrText, parseCidr, parseIp } from "../apimachinery/net.ts";
import { bridgeName, gatewayAddress } from "./cni-config.ts";
import { removePolicies } from "./policy/policy-enforcer.ts";
import { networkRules, networkTableName } from "./network-rules.ts";

export interface NodeNetworkOptions {
  readonly programs: Programs;
  readonly log: Log;
  readonly instanceId: string;
  /** This node's ranges, one for each family. */
  readonly podCidrs: readonly string[];
  /** The ranges of all nodes' pods. */
  readonly clusterCidrs: readonly string[];
  readonly serviceCidrs: readonly string[];
  /** Of load balancers: like Services' own addresses they lead nowhere but through the proxy. */
  readonly loadBalancerCidrs: readonly string[];
}

export interface NodeNetwork {
  readonly bridge: string;
  /** The bridge's address in the first pod range: reachable by every pod of the node. */
  readonly gatewayAddress: string;
}

/** Makes it so, whatever was there; may be called again. */
export async function setUpNodeNetwork(options: NodeNetworkOptions): Promise<NodeNetwork> {
  const { programs, log } = options;
  const links = createNetworkNamespaces({ programs });
  const bridge = bridgeName(options.instanceId);
  await requireFreeRanges(links, bridge, options.podCidrs);
  await links.addBridge(bridge);
  for (const podCidr of options.podCidrs) {
    const { address, prefixLength } = gatewayAddress(podCidr);
    await links.addAddress(bridge, `${address}/${prefixLength}`);
  }
  for (const [path, isNeeded] of systemSettings(options.podCidrs)) await enable(path, { isNeeded, log });
  // The worst metric: any route of the machine's own wins.
  const serviceCidrs = [...options.serviceCidrs, ...options.loadBalancerCidrs];
  for (const serviceCidr of serviceCidrs) await links.ip(["route", "replace", serviceCidr, "dev", bridge, "metric", "65534"]);
  await createNft({ programs }).apply(networkRules({ ...options, serviceCidrs, table: networkTableName(options.instanceId) }));
  return { bridge, gatewayAddress: gatewayAddress(options.podCidrs[0]!).address };
}

/** Somebody else has the pods' range; the message says what to do. */
export class RangeInUse extends Error {
  override name = "RangeInUse";
}

/** Throws when another interface has an address in one of the ranges: two networks of one range would take each other's packets. */
async function requireFreeRanges(links: NetworkNamespaces, own: string, podCidrs: readonly string[]): Promise<void> {
  const ranges = podCidrs.map((text) => parseCidr(text)!);
  for (const link of (await links.ipJson(["address", "show"])) as { ifname?: string; addr_info?: { local?: string }[] }[]) {
    if (link.ifname === own) continue;
    for (const { local = "" } of link.addr_info ?? []) {
      const address = parseIp(local);
      const taken = address && ranges.find((range) => cidrContains(range, address));
      if (taken !== undefined)
        throw new RangeInUse(
          `the pods' range ${cidrText(taken)} is in use: interface ${link.ifname} has the address ${local}; choose another range with --pod-cidr`,
        );
    }
  }
}

/** Removes the bridge (with its addresses and routes) and the rules, whether they are there or not. Forwarding stays on. */
export async function resetNetwork(options: { programs: Programs; instanceId: string }): Promise<void> {
  const nft = createNft({ programs: options.programs });
  for (const family of ["ip", "ip6"]) {
    if ((await nft.version()) === undefined) break;
    await nft.apply(`delete table ${family} ${networkTableName(options.instanceId)}`).catch((error: unknown) => {
      if (!(error instanceof NftError && error.reason === "NotFound")) throw error;
    });
  }
  if ((await nft.version()) !== undefined) await removePolicies(nft, options.instanceId);
  await createNetworkNamespaces({ programs: options.programs }).removeLink(bridgeName(options.instanceId));
}

/** Settings of the kernel, and whether pods cannot do without. */
function systemSettings(podCidrs: readonly string[]): [path: string, isNeeded: boolean][] {
  const hasIpv6 = podCidrs.some((cidr) => cidr.includes(":"));
  return [
    ["/proc/sys/net/ipv4/ip_forward", true],
    ...(hasIpv6 ? ([["/proc/sys/net/ipv6/conf/all/forwarding", true]] as [string, boolean][]) : []),
    // Pods of one bridge reach each other through a Service only when bridged packets pass the rules as well.
    ["/proc/sys/net/bridge/bridge-nf-call-iptables", false],
    ["/proc/sys/net/bridge/bridge-nf-call-ip6tables", false],
  ];
}

async function enable(path: string, { isNeeded, log }: { isNeeded: boolean; log: Log }): Promise<void> {
  try {
    if ((await readFile(path, "utf8")).trim() !== "1") await writeFile(path, "1\n");
  } catch (error) {
    if (isNeeded) throw error;
    log.warn("Could not enable a kernel setting: pods of one node may not reach each other through Services (module br_netfilter)", { path, error });
  }
}
