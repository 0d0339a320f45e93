/** IP addresses and CIDRs: reading, canonical forms, containment, and the texts of their faults (net.ParseIP and netip of Go are the measure). */
import { isIPv4, isIPv6 } from "node:net";
import { invalid } from "./field-error.ts";
import type { FieldError } from "./field-error.ts";
import type { FieldPath } from "./field-path.ts";

export type IpFamily = "IPv4" | "IPv6";

/** An address as a number of 32 or 128 bits. IPv4-mapped IPv6 addresses (`::ffff:1.2.3.4`) are IPv4, `isMapped`. */
export interface IpAddress {
  readonly family: IpFamily;
  readonly bits: bigint;
  readonly isMapped: boolean;
}

/** `first` is the network's address; `bits` is the address as it was written. */
export interface Cidr {
  readonly family: IpFamily;
  readonly bits: bigint;
  readonly first: bigint;
  readonly last: bigint;
  readonly prefixLength: number;
  readonly isMapped: boolean;
}

/** The address, or undefined when it is none. Leading zeros are read as decimals (`01.2.3.4`) when `allowLeadingZeros`. */
export function parseIp(text: string, allowLeadingZeros = false): IpAddress | undefined {
  const plain = allowLeadingZeros
    ? text.replace(/(^|[.:])0+(?=\d+(\.|$))/g, (match, edge: string, _dot, at: number) => (text.includes(".", at) ? edge : match))
    : text;
  if (isIPv4(plain)) return { family: "IPv4", bits: ipv4Bits(plain), isMapped: false };
  if (!isIPv6(plain) || plain.includes("%")) return undefined;
  const bits = ipv6Bits(plain);
  const isMapped = bits >> 32n === 0xffffn;
  return isMapped ? { family: "IPv4", bits: bits & 0xffffffffn, isMapped } : { family: "IPv6", bits, isMapped };
}

/** The CIDR, or undefined when it is none. */
export function parseCidr(text: string, allowLeadingZeros = false): Cidr | undefined {
  const slash = text.indexOf("/");
  const length = text.slice(slash + 1);
  if (slash < 0 || !/^(0|[1-9]\d{0,2})$/.test(allowLeadingZeros ? length.replace(/^0+(?=\d)/, "") : length)) return undefined;
  const address = parseIp(text.slice(0, slash), allowLeadingZeros);
  if (address === undefined) return undefined;
  const width = address.family === "IPv4" ? 32 : 128;
  const prefixLength = Number(length) - (address.isMapped ? 96 : 0);
  if (prefixLength < 0 || prefixLength > width) return undefined;
  const hostMask = (1n << BigInt(width - prefixLength)) - 1n;
  return {
    family: address.family,
    bits: address.bits,
    first: address.bits & ~hostMask,
    last: address.bits | hostMask,
    prefixLength,
    isMapped: address.isMapped,
  };
}

/** The address in the form in which two equal addresses have equal texts (RFC 5952). */
export function ipText({ family, bits }: Pick<IpAddress, "family" | "bits">): string {
  if (family === "IPv4") return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 0xffn)).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const zeros = longestZeroRun(groups);
  if (zeros === undefined) return groups.join(":");
  return `${groups.slice(0, zeros.start).join(":")}::${groups.slice(zeros.end).join(":")}`;
}

/** `10.0.0.0/8`: network address and prefix length, canonical. */
export function cidrText(cidr: Cidr): string {
  return `${ipText({ family: cidr.family, bits: cidr.first })}/${cidr.prefixLength}`;
}

export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  return cidr.family === address.family && address.bits >= cidr.first && address.bits <= cidr.last;
}

/** Whether `inner` lies within `outer` (or is the same). */
export function cidrContainsCidr(outer: Cidr, inner: Cidr): boolean {
  return outer.family === inner.family && inner.first >= outer.first && inner.last <= outer.last;
}

export function ipFamilyOf(text: string): IpFamily | undefined {
  return parseIp(text, true)?.family;
}

/** `legacy`: forms with a second meaning are let through (feature gate StrictIPCIDRValidation off). */
export type Strictness = "strict" | "legacy";

/** Faults of an address in any legal form but those with a second meaning: leading zeros, IPv4-mapped. */
export function validateIp(value: string, path: FieldPath, strictness: Strictness = "strict"): FieldError[] {
  const address = parseIp(value, true);
  if (address === undefined) return [invalid(path, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
  if (strictness === "legacy") return [];
  const errors: FieldError[] = [];
  if (parseIp(value) === undefined) errors.push(invalid(path, value, "must not have leading 0s"));
  if (address.isMapped) errors.push(invalid(path, value, "must not be an IPv4-mapped IPv6 address"));
  return errors;
}

/** As `validateIp`, and the text must be the canonical one. */
export function validateCanonicalIp(value: string, path: FieldPath): FieldError[] {
  const errors = validateIp(value, path);
  const address = parseIp(value, true);
  if (errors.length > 0 || address === undefined) return errors;
  const canonical = ipText(address);
  return canonical === value ? [] : [invalid(path, value, `must be in canonical form (${JSON.stringify(canonical)})`)];
}

/** Faults of a CIDR in any legal form but those with a second meaning: leading zeros, IPv4-mapped, bits beyond the prefix. */
export function validateCidr(value: string, path: FieldPath, strictness: Strictness = "strict"): FieldError[] {
  const cidr = parseCidr(value, true);
  if (cidr === undefined) return [invalid(path, value, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
  if (strictness === "legacy") return [];
  const errors: FieldError[] = [];
  if (parseCidr(value) === undefined) errors.push(invalid(path, value, "must not have leading 0s in IP or prefix length"));
  if (cidr.isMapped) errors.push(invalid(path, value, "must not have an IPv4-mapped IPv6 address"));
  if (cidr.bits !== cidr.first) errors.push(invalid(path, value, "must not have bits set beyond the prefix length"));
  return errors;
}

/** As `validateCidr`, and the text must be the canonical one. */
export function validateCanonicalCidr(value: string, path: FieldPath): FieldError[] {
  const errors = validateCidr(value, path);
  const cidr = parseCidr(value, true);
  if (errors.length > 0 || cidr === undefined) return errors;
  const canonical = cidrText(cidr);
  return canonical === value ? [] : [invalid(path, value, `must be in canonical form (${JSON.stringify(canonical)})`)];
}

/** Faults of an address that cannot be reached from elsewhere: unspecified, loopback, link-local, link-local multicast. */
export function validateNonSpecialIp(value: string, path: FieldPath): FieldError[] {
  const address = parseIp(value, true);
  if (address === undefined) return [invalid(path, value, "must be a valid IP address")];
  const errors: FieldError[] = [];
  const isIn = (...cidrs: string[]) => cidrs.some((cidr) => cidrContains(parseCidr(cidr)!, address));
  if (address.bits === 0n) errors.push(invalid(path, value, `may not be unspecified (${ipText(address)})`));
  if (isIn("127.0.0.0/8", "::1/128")) errors.push(invalid(path, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
  if (isIn("169.254.0.0/16", "fe80::/10")) errors.push(invalid(path, value, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
  if (isIn("224.0.0.0/24", "ff02::/16")) errors.push(invalid(path, value, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"));
  return errors;
}

/** Warnings about an address that a later version may refuse. */
export function ipWarnings(value: string, path: FieldPath): string[] {
  const address = parseIp(value, true);
  if (address === undefined) return [];
  if (parseIp(value) === undefined || address.isMapped)
    return [`${path}: non-standard IP address ${JSON.stringify(value)} is invalid: use ${JSON.stringify(ipText(address))}`];
  if (address.family === "IPv6" && ipText(address) !== value)
    return [`${path}: IPv6 address ${JSON.stringify(value)} should be in RFC 5952 canonical format (${JSON.stringify(ipText(address))})`];
  return [];
}

/** Warnings about a CIDR that a later version may refuse. */
export function cidrWarnings(value: string, path: FieldPath): string[] {
  const cidr = parseCidr(value, true);
  if (cidr === undefined) return [];
  const canonical = cidrText(cidr);
  if (cidr.bits !== cidr.first) {
    const address = ipText(cidr);
    return [
      `${path}: CIDR value ${JSON.stringify(value)} is ambiguous in this context (should be ${JSON.stringify(canonical)} or ${JSON.stringify(`${address}/${cidr.family === "IPv4" ? 32 : 128}`)}?)`,
    ];
  }
  if (parseCidr(value) === undefined || cidr.isMapped)
    return [`${path}: non-standard CIDR value ${JSON.stringify(value)} is invalid: use ${JSON.stringify(canonical)}`];
  if (cidr.family === "IPv6" && canonical !== value)
    return [`${path}: IPv6 CIDR value ${JSON.stringify(value)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`];
  return [];
}

function ipv4Bits(text: string): bigint {
  return text.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function ipv6Bits(text: string): bigint {
  const dotted = text.lastIndexOf(":") + 1;
  const words = text.includes(".") ? `${text.slice(0, dotted)}${wordsOf(ipv4Bits(text.slice(dotted)))}` : text;
  const [head = "", tail] = words.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = tail === undefined ? left : [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function wordsOf(bits: bigint): string {
  return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
}

/** The longest run of two or more zero groups, the first of equals. */
function longestZeroRun(groups: readonly string[]): { start: number; end: number } | undefined {
  let best: { start: number; end: number } | undefined;
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === "0") end++;
    if (end - start > Math.max(1, best === undefined ? 1 : best.end - best.start)) best = { start, end };
    start = Math.max(start, end - 1);
  }
  return best;
}
