/** IP addresses and prefixes as Go's netip reads them, with its faults. */

export interface IpBits {
  readonly isV4: boolean;
  readonly bits: bigint;
}
/** `at`: the text from the character that the fault is about. */
export interface IpFault {
  readonly reason: string;
  readonly at?: string;
}
export type ParsedIp = (IpBits & { readonly zone?: string }) | IpFault;

export function parseAddress(text: string): ParsedIp {
  const separator = /[.:%]/.exec(text)?.[0];
  if (separator === ".") return parseV4(text);
  if (separator === ":") return parseV6(text);
  return separator === "%" ? { reason: "missing IPv6 address" } : { reason: "unable to parse IP" };
}

/** `ParseAddr("x"): unable to parse IP`. */
export function addressFault(text: string, { reason, at }: IpFault): string {
  return `ParseAddr(${JSON.stringify(text)}): ${reason}${at === undefined ? "" : ` (at ${JSON.stringify(at)})`}`;
}

export interface PrefixBits extends IpBits {
  readonly length: number;
}

export function parsePrefix(text: string): PrefixBits | string {
  const fault = (reason: string) => `netip.ParsePrefix(${JSON.stringify(text)}): ${reason}`;
  const slash = text.lastIndexOf("/");
  if (slash < 0) return fault("no '/'");
  const addressText = text.slice(0, slash);
  const address = parseAddress(addressText);
  if ("reason" in address) return fault(addressFault(addressText, address));
  if (address.zone !== undefined) return fault("IPv6 zones cannot be present in a prefix");
  const length = text.slice(slash + 1);
  if (length.length > 1 && (length[0]! < "1" || length[0]! > "9")) return fault(`bad bits after slash: ${JSON.stringify(length)}`);
  if (!/^\d+$/.test(length)) return fault(`bad bits after slash: ${JSON.stringify(length)}`);
  if (Number(length) > (address.isV4 ? 32 : 128)) return fault("prefix length out of range");
  return { isV4: address.isV4, bits: address.bits, length: Number(length) };
}

function parseV4(text: string): ParsedIp {
  let bits = 0n;
  let field = 0;
  let digits = "";
  let fields = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (character >= "0" && character <= "9") {
      if (digits === "0") return { reason: "IPv4 field has octet with leading zero" };
      digits += character;
      field = field * 10 + Number(character);
      if (field > 255) return { reason: "IPv4 field has value >255" };
    } else if (character === ".") {
      if (digits === "" || index === text.length - 1) return { reason: "IPv4 field must have at least one digit", at: text.slice(index) };
      if (fields === 3) return { reason: "IPv4 address too long" };
      bits = (bits << 8n) | BigInt(field);
      fields++;
      field = 0;
      digits = "";
    } else return { reason: "unexpected character", at: text.slice(index) };
  }
  return fields < 3 ? { reason: "IPv4 address too short" } : { isV4: true, bits: (bits << 8n) | BigInt(field) };
}

function parseV6(text: string): ParsedIp {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? undefined : text.slice(percent + 1);
  if (zone === "") return { reason: "zone must be a non-empty string" };
  const groups: number[] = [];
  let gap = -1;
  let rest = percent < 0 ? text : text.slice(0, percent);
  if (rest.startsWith("::")) {
    gap = 0;
    rest = rest.slice(2);
  }
  while (rest !== "" && groups.length < 8) {
    const digits = /^[0-9A-Fa-f]*/.exec(rest)![0];
    if (digits.length > 4 && !(rest[digits.length] === "." && groups.length > 0)) return { reason: "each group must have 4 or less digits", at: rest };
    if (digits === "") return { reason: "each colon-separated field must have at least one digit", at: rest };
    if (rest[digits.length] === ".") {
      const tail = embedded(rest, groups, gap);
      if ("reason" in tail) return tail;
      groups.push(...tail.groups);
      rest = "";
      break;
    }
    groups.push(Number.parseInt(digits, 16));
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (rest[0] !== ":") return { reason: "unexpected character, want colon", at: rest };
    if (rest.length === 1) return { reason: "colon must be followed by more characters", at: rest };
    rest = rest.slice(1);
    if (rest[0] === ":") {
      if (gap >= 0) return { reason: "multiple :: in address", at: rest };
      gap = groups.length;
      rest = rest.slice(1);
    }
  }
  if (rest !== "") return { reason: "trailing garbage after address", at: rest };
  if (groups.length < 8 && gap < 0) return { reason: "address string too short" };
  if (groups.length === 8 && gap >= 0) return { reason: "the :: must expand to at least one field of zeros" };
  if (gap >= 0) groups.splice(gap, 0, ...Array.from({ length: 8 - groups.length }, () => 0));
  return { isV4: false, bits: groups.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n), ...(zone !== undefined && { zone }) };
}

/** An IPv4 address for the last two groups. */
function embedded(rest: string, groups: readonly number[], gap: number): { groups: [number, number] } | IpFault {
  if (gap < 0 && groups.length !== 6) return { reason: "embedded IPv4 address must replace the final 2 fields of the address", at: rest };
  if (groups.length + 2 > 8) return { reason: "too many hex fields to fit an embedded IPv4 at the end of the address", at: rest };
  const v4 = parseV4(rest);
  if ("reason" in v4) return v4;
  return { groups: [Number(v4.bits >> 16n), Number(v4.bits & 0xffffn)] };
}
