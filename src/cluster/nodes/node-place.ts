/** Where a further node of this machine lies: its names and addresses, all told by the cluster's ranges and the node's number. Pure. */
import { cidrContainsCidr, cidrText, ipText, parseCidr } from "../../apimachinery/net.ts";
import { UsageError } from "../arguments.ts";
import type { UpOptions } from "../up-options.ts";

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
    const prefixLength = Math.max(cidr.prefixLength, sharePrefix[cidr.family]);
    const size = 1n << BigInt((cidr.family === "IPv4" ? 32 : 128) - prefixLength);
    const first = cidr.first + size * BigInt(number);
    if (first > cidr.last) throw new UsageError(`the pods' range ${text} has no share for node number ${number}: a node takes a /${prefixLength}`);
    return cidrText({ ...cidr, first, last: first + size - 1n, prefixLength });
  });
}

/** The number whose share of the pods' ranges this is; -1 when it lies elsewhere. */
export function numberOfShare(podCidrs: readonly string[], share: string): number {
  const [range, cidr] = [parseCidr(podCidrs[0]!)!, parseCidr(share)];
  if (cidr === undefined || !cidrContainsCidr(range, cidr)) return -1;
  return Number((cidr.first - range.first) >> BigInt((range.family === "IPv4" ? 32 : 128) - Math.max(range.prefixLength, sharePrefix[range.family])));
}

/** The lowest number that no node has. */
export function freeNumber(taken: readonly number[]): number {
  let number = 1;
  while (taken.includes(number)) number++;
  return number;
}

/** Node names become folders: they are labels of DNS. */
export function requireName(name: string): void {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) throw new UsageError(`${JSON.stringify(name)} is no name for a node: small letters, digits and dashes, at most 63`);
}
