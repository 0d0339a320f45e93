/**
 * The cables of further nodes of this machine: a bridge that is the machine's own leg, and for each node a network namespace with one
 * interface on it. The machine routes between the nodes, so no node needs to know the others.
 */
import { parseCidr } from "../../apimachinery/net.ts";
import { createNetworkNamespaces, createNft, NftError } from "../../host/index.ts";
import type { Programs } from "../../host/index.ts";
import type { ClusterRanges, NodePlace } from "./node-place.ts";

export interface MachineNetworkOptions {
  readonly programs: Programs;
  readonly instanceId: string;
}

const bridgeOf = (instanceId: string) => `con-${instanceId}`;
const tableOf = (instanceId: string) => `coracle-${instanceId}-nodes`;

/** Plugs a node in, whatever was there before. */
export async function plugIn(place: NodePlace, { programs, instanceId, ranges }: MachineNetworkOptions & { ranges: ClusterRanges }): Promise<void> {
  const links = createNetworkNamespaces({ programs });
  const bridge = bridgeOf(instanceId);
  await links.addBridge(bridge);
  await links.addAddress(bridge, `${place.gateway}/${place.prefixLength}`);
  await createNft({ programs }).apply(nodeRules(tableOf(instanceId), ranges));
  await links.remove(place.namespace);
  await links.add(place.namespace);
  await links.addVethPair({ name: place.link, peer: "eth0", namespace: place.namespace });
  await links.ip(["link", "set", place.link, "master", bridge]);
  await links.addAddress("eth0", `${place.address}/${place.prefixLength}`, place.namespace);
  await links.addRoute({ destination: "default", via: place.gateway }, place.namespace);
  for (const podCidr of place.podCidrs.filter(isIpv4)) await links.ip(["route", "replace", podCidr, "via", place.address, "dev", bridge]);
}

/** Removes the node's namespace; its interface and routes go with it. */
export async function pullOut(place: NodePlace, { programs }: MachineNetworkOptions): Promise<void> {
  const links = createNetworkNamespaces({ programs });
  for (const podCidr of place.podCidrs.filter(isIpv4)) await links.ip(["route", "flush", podCidr, "via", place.address]);
  await links.removeLink(place.link);
  await links.remove(place.namespace);
}

/** Removes what all nodes shared. */
export async function removeMachineNetwork({ programs, instanceId }: MachineNetworkOptions): Promise<void> {
  await createNetworkNamespaces({ programs }).removeLink(bridgeOf(instanceId));
  await createNft({ programs })
    .apply(`delete table ip ${tableOf(instanceId)}`)
    .catch((error: unknown) => {
      if (!(error instanceof NftError && error.reason === "NotFound")) throw error;
    });
}

/** What nodes send out of the machine takes the machine's address. */
export function nodeRules(table: string, { nodeCidr, podCidrs }: ClusterRanges): string {
  return `add table ip ${table}
delete table ip ${table}
table ip ${table} {
  set inside { type ipv4_addr; flags interval; auto-merge; elements = { ${[nodeCidr, ...podCidrs.filter(isIpv4), "224.0.0.0/4"].join(", ")} }; }
  chain postrouting {
    type nat hook postrouting priority srcnat + 1;
    ip saddr ${nodeCidr} ip daddr != @inside masquerade fully-random
  }
}
`;
}

/** The programs, run inside a node's network namespace; everything else of the machine stays as it is, its mounts above all. */
export function programsOf(namespace: string, programs: Programs): Programs {
  const inside = <T extends { command: string; args?: readonly string[] }>(spec: T): T => ({
    ...spec,
    command: "nsenter",
    args: [`--net=/run/netns/${namespace}`, "--", spec.command, ...(spec.args ?? [])],
  });
  return {
    ...programs,
    run: (spec, signal) => programs.run(inside(spec), signal),
    start: (spec) => programs.start(inside(spec)),
    startDetached: (spec, outputPath) => programs.startDetached(inside(spec), outputPath),
  };
}

function isIpv4(cidr: string): boolean {
  return parseCidr(cidr)?.family === "IPv4";
}
