/** Ranges of addresses, cut into shares of one size that nodes get. Pure. */
import { cidrContains, cidrText, parseCidr } from "../../apimachinery/net.ts";
import type { Cidr } from "../../apimachinery/net.ts";

export interface ShareRange {
  readonly cidr: Cidr;
  /** Prefix length of a share. */
  readonly sharePrefix: number;
}

/** Throws RangeError when `text` is no CIDR, or shares would be larger than it or more than 65,536. */
export function shareRange(text: string, prefixes: { readonly IPv4: number; readonly IPv6: number }): ShareRange {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new RangeError(`invalid CIDR address: ${text}`);
  const sharePrefix = prefixes[cidr.family];
  if (sharePrefix < cidr.prefixLength) throw new RangeError(`the mask size of a node, ${sharePrefix}, is less than that of the cluster's range ${text}`);
  if (sharePrefix - cidr.prefixLength > 16)
    throw new RangeError(`the range ${text} has too many shares: its mask size and a node's, ${sharePrefix}, are more than 16 apart`);
  return { cidr, sharePrefix };
}

export function shareCount({ cidr, sharePrefix }: ShareRange): number {
  return 2 ** (sharePrefix - cidr.prefixLength);
}

export function shareText({ cidr, sharePrefix }: ShareRange, index: number): string {
  const size = shareSize({ cidr, sharePrefix });
  const first = cidr.first + size * BigInt(index);
  return cidrText({ ...cidr, first, last: first + size - 1n, prefixLength: sharePrefix });
}

/** The shares that overlap `text`: none when it lies elsewhere. */
export function sharesIn(range: ShareRange, text: string): readonly [first: number, last: number] | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined || cidr.family !== range.cidr.family) return undefined;
  const [first, last] = [cidr.first < range.cidr.first ? range.cidr.first : cidr.first, cidr.last > range.cidr.last ? range.cidr.last : cidr.last];
  if (!cidrContains(range.cidr, { ...cidr, bits: first }) || last < first) return undefined;
  const size = shareSize(range);
  return [Number((first - range.cidr.first) / size), Number((last - range.cidr.first) / size)];
}

function shareSize({ cidr, sharePrefix }: ShareRange): bigint {
  return 1n << BigInt((cidr.family === "IPv4" ? 32 : 128) - sharePrefix);
}
