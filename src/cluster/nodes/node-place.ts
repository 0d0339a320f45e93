/** Where a further node of this machine lies: its names and addresses, all told by the cluster's ranges and the node's number. Pure. */
import { ipText, parseCidr } from "../../apimachinery/net.ts";
import type { Cidr } from "../../apimachinery/net.ts";
import { shareCount, sharesIn, shareText } from "../../controllers/node-ipam/shares.ts";
import type { ShareRange } from "../../controllers/node-ipam/shares.ts";
import { UsageError } from "../commands/arguments.ts";
import type { UpOptions } from "../commands/up-options.ts";

export type ClusterRanges = Pick<UpOptions, "podCidrs" | "serviceCidrs" | "nodeCidr" | "loadBalancerCidrs">;

export interface NodePlace {
  readonly name: string;
  /** From 1; the machine itself is number 0. */
  readonly number: number;
  /** In the range of nodes. */
  readonly address: string;
  readonly prefixLength: number;
  /** The machine's own address in that range. */
  readonly gateway: string;
  readonly podCidrs: readonly string[];
  /** The node's network namespace. */
  readonly namespace: string;
  /** The machine's end of the node's cable. */
  readonly link: string;
}

/** Bits of a node's share of the pods' range: 254 addresses, as Kubernetes' node IPAM gives; of IPv6 its 2^64. */
const sharePrefix = { IPv4: 24, IPv6: 64 } as const;
/** Addresses of nodes begin behind those that a range's first ones are used for. */
const firstAddress = 10n;

/** Throws UsageError when the name is none or a range is used up. */
export function placeNode(name: string, number: number, { ranges, instanceId }: { ranges: ClusterRanges; instanceId: string }): NodePlace {
  requireName(name);
  const cidr = parseCidr(ranges.nodeCidr)!;
  const address = cidr.first + firstAddress + BigInt(number);
  if (address >= cidr.last) throw new UsageError(`the range of nodes, ${ranges.nodeCidr}, has no address left for ${name}`);
  return {
    name,
    number,
    address: ipText({ family: cidr.family, bits: address }),
    prefixLength: cidr.prefixLength,
    gateway: ipText({ family: cidr.family, bits: cidr.first + 1n }),
    podCidrs: nodePodCidrs(ranges.podCidrs, number),
    namespace: `cor-${instanceId}-${number}`,
    link: `cn-${instanceId}-${number}`,
  };
}

/** A node's share of each of the pods' ranges. Throws UsageError when a range has no such share. */
export function nodePodCidrs(podCidrs: readonly string[], number: number): string[] {
  return podCidrs.map((text) => {
    const cidr = parseCidr(text)!;
    const range = rangeOf(cidr);
    if (number >= shareCount(range))
      throw new UsageError(`the pods' range ${text} has no share for node number ${number}: a node takes a /${range.sharePrefix}`);
    return shareText(range, number);
  });
}

/** The number whose share of the pods' ranges this is; -1 when it lies elsewhere. */
export function numberOfShare(podCidrs: readonly string[], share: string): number {
  return sharesIn(rangeOf(parseCidr(podCidrs[0]!)!), share)?.[0] ?? -1;
}

/** A range that is smaller than a share is one. */
function rangeOf(cidr: Cidr): ShareRange {
  return { cidr, sharePrefix: Math.max(cidr.prefixLength, sharePrefix[cidr.family]) };
}

/** The lowest number that no node has. */
export function freeNumber(taken: readonly number[]): number {
  let number = 1;
  while (taken.includes(number)) number++;
  return number;
}

/** Node names become folders: they are labels of DNS. */
export function requireName(name: string): void {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    throw new UsageError(`${JSON.stringify(name)} is no name for a node: small letters, digits and dashes, at most 63`);
}
