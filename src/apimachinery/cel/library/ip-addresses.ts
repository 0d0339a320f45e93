/** IP addresses and CIDRs. */
import { ipText } from "../../net.ts";
import { declare, memberOverload, overload } from "../check/declarations.ts";
import { boolType, intType, opaqueType, stringType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { CelError, noSuchOverload, OpaqueValue } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { addressFault, parseAddress, parsePrefix } from "./ip-parser.ts";
import type { IpBits, PrefixBits } from "./ip-parser.ts";

export const ipType = opaqueType("net.IP");
export const cidrType = opaqueType("net.CIDR");

export class IpValue extends OpaqueValue {
  readonly address: IpBits;
  constructor(address: IpBits) {
    super();
    this.address = address;
  }
  override get typeName(): string {
    return ipType.name;
  }
  override get size(): number {
    return this.address.isV4 ? 4 : 16;
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof IpValue && other.address.isV4 === this.address.isV4 && other.address.bits === this.address.bits;
  }
  override toString(): string {
    return ipText({ family: this.address.isV4 ? "IPv4" : "IPv6", bits: this.address.bits });
  }
}

export class CidrValue extends OpaqueValue {
  readonly prefix: PrefixBits;
  constructor(prefix: PrefixBits) {
    super();
    this.prefix = prefix;
  }
  override get typeName(): string {
    return cidrType.name;
  }
  override get size(): number {
    return Math.ceil(this.prefix.length / 8);
  }
  override equals(other: OpaqueValue): boolean {
    return (
      other instanceof CidrValue &&
      other.prefix.length === this.prefix.length &&
      other.prefix.isV4 === this.prefix.isV4 &&
      other.prefix.bits === this.prefix.bits
    );
  }
  masked(bits = this.prefix.bits): bigint {
    const hostBits = BigInt((this.prefix.isV4 ? 32 : 128) - this.prefix.length);
    return (bits >> hostBits) << hostBits;
  }
  contains({ isV4, bits }: IpBits): boolean {
    return isV4 === this.prefix.isV4 && this.masked(bits) === this.masked();
  }
  override toString(): string {
    return `${new IpValue(this.prefix).toString()}/${this.prefix.length}`;
  }
}

function predicate(name: string, id: string, holds: (address: IpBits) => boolean) {
  return declare(
    name,
    memberOverload(id, [ipType], boolType, (ip) => holds((ip as IpValue).address)),
  );
}

export const ipLibrary: Library = {
  name: "ip",
  types: new Map([[ipType.name, ipType]]),
  functions: [
    declare(
      "ip",
      overload("string_to_ip", [stringType], ipType, (text) => toIp(text as string)),
    ),
    declare(
      "isIP",
      overload("is_ip", [stringType], boolType, (text) => toIp(text as string) instanceof IpValue),
    ),
    declare("ip.isCanonical", overload("ip_is_canonical", [stringType], boolType, isCanonical)),
    declare(
      "string",
      overload("ip_to_string", [ipType], stringType, (ip) => (ip as IpValue).toString()),
    ),
    declare(
      "family",
      memberOverload("ip_family", [ipType], intType, (ip) => ((ip as IpValue).address.isV4 ? 4 : 6)),
    ),
    predicate("isUnspecified", "ip_is_unspecified", ({ bits }) => bits === 0n),
    predicate("isLoopback", "ip_is_loopback", ({ isV4, bits }) => (isV4 ? bits >> 24n === 127n : bits === 1n)),
    predicate("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
    predicate("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
    predicate("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
  ],
};

export const cidrLibrary: Library = {
  name: "cidr",
  types: new Map([[cidrType.name, cidrType]]),
  functions: [
    declare(
      "cidr",
      overload("string_to_cidr", [stringType], cidrType, (text) => toCidr(text as string)),
    ),
    declare(
      "isCIDR",
      overload("is_cidr", [stringType], boolType, (text) => toCidr(text as string) instanceof CidrValue),
    ),
    declare(
      "string",
      overload("cidr_to_string", [cidrType], stringType, (cidr) => (cidr as CidrValue).toString()),
    ),
    declare(
      "ip",
      memberOverload("cidr_ip", [cidrType], ipType, (cidr) => new IpValue((cidr as CidrValue).prefix)),
    ),
    declare(
      "prefixLength",
      memberOverload("cidr_prefix_length", [cidrType], intType, (cidr) => (cidr as CidrValue).prefix.length),
    ),
    declare(
      "masked",
      memberOverload("cidr_masked", [cidrType], cidrType, (cidr) => new CidrValue({ ...(cidr as CidrValue).prefix, bits: (cidr as CidrValue).masked() })),
    ),
    declare(
      "containsIP",
      memberOverload("cidr_contains_ip_string", [cidrType, stringType], boolType, (cidr, text) => containsIp(cidr as CidrValue, toIp(text as string))),
      memberOverload("cidr_contains_ip_ip", [cidrType, ipType], boolType, (cidr, ip) => containsIp(cidr as CidrValue, ip)),
    ),
    declare(
      "containsCIDR",
      memberOverload("cidr_contains_cidr_string", [cidrType, stringType], boolType, (cidr, text) => containsCidr(cidr as CidrValue, toCidr(text as string))),
      memberOverload("cidr_contains_cidr", [cidrType, cidrType], boolType, (cidr, other) => containsCidr(cidr as CidrValue, other)),
    ),
  ],
};

function toIp(text: string): Value {
  const address = parseAddress(text);
  if ("reason" in address) return new CelError(`IP Address ${JSON.stringify(text)} parse error during conversion from string: ${addressFault(text, address)}`);
  if (address.zone !== undefined) return new CelError(`IP address ${JSON.stringify(text)} with zone value is not allowed`);
  return isMapped(address) ? new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`) : new IpValue(address);
}

function toCidr(text: string): Value {
  const prefix = parsePrefix(text);
  const fault = (reason: string) => new CelError(`network address parse error during conversion from string: ${reason}`);
  if (typeof prefix === "string") return fault(`network address parse error during conversion from string: ${prefix}`);
  return isMapped(prefix) ? fault(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`) : new CidrValue(prefix);
}

function isMapped({ isV4, bits }: IpBits): boolean {
  return !isV4 && bits >> 32n === 0xffffn;
}

function isCanonical(text: Value): Value {
  const ip = toIp(text as string);
  return ip instanceof IpValue ? ip.toString() === text : ip;
}

/** An address that cannot be read is no argument that the function has an overload for. */
function containsIp(cidr: CidrValue, ip: Value): Value {
  return ip instanceof IpValue ? cidr.contains(ip.address) : noSuchOverload;
}

function containsCidr(cidr: CidrValue, other: Value): Value {
  if (!(other instanceof CidrValue)) return other;
  return cidr.prefix.length <= other.prefix.length && cidr.contains({ isV4: other.prefix.isV4, bits: other.masked() });
}

function isLinkLocalMulticast({ isV4, bits }: IpBits): boolean {
  return isV4 ? bits >> 8n === 0xe00000n : ((bits >> 112n) & 0xff0fn) === 0xff02n;
}

function isLinkLocalUnicast({ isV4, bits }: IpBits): boolean {
  return isV4 ? bits >> 16n === 0xa9fen : bits >> 118n === 0x3fan;
}

function isGlobalUnicast(address: IpBits): boolean {
  const { isV4, bits } = address;
  const isMulticast = isV4 ? bits >> 28n === 0xen : bits >> 120n === 0xffn;
  const isLoopback = isV4 ? bits >> 24n === 127n : bits === 1n;
  const isBroadcast = isV4 && bits === 0xffffffffn;
  return bits !== 0n && !isBroadcast && !isMulticast && !isLoopback && !isLinkLocalUnicast(address);
}
