/** Addresses as DNS has them: bytes in records, labels in reverse names. */
import { ipText, parseIp } from "../apimachinery/net.ts";

/** 4 or 16 bytes; undefined for what is no address. */
export function addressBytes(text: string): Uint8Array | undefined {
  const quad = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (quad !== null) return Uint8Array.of(Number(quad[1]), Number(quad[2]), Number(quad[3]), Number(quad[4]));
  const address = parseIp(text, true);
  if (address === undefined) return undefined;
  const length = address.family === "IPv4" ? 4 : 16;
  return Uint8Array.from({ length }, (_, index) => Number((address.bits >> BigInt(8 * (length - 1 - index))) & 0xffn));
}

/** The canonical address that `4.3.2.1.in-addr.arpa` or 32 nibbles under `ip6.arpa` stand for. */
export function addressOfReverseName(name: string): string | undefined {
  if (name.endsWith(".in-addr.arpa")) {
    const parts = name.slice(0, -".in-addr.arpa".length).split(".");
    const address = parts.length === 4 ? parseIp(parts.reverse().join(".")) : undefined;
    return address === undefined ? undefined : ipText(address);
  }
  if (!name.endsWith(".ip6.arpa")) return undefined;
  const nibbles = name.slice(0, -".ip6.arpa".length).split(".");
  if (nibbles.length !== 32 || !nibbles.every((nibble) => /^[0-9a-f]$/.test(nibble))) return undefined;
  return ipText({ family: "IPv6", bits: BigInt(`0x${nibbles.reverse().join("")}`) });
}
