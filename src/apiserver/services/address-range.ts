/** A range of cluster addresses: which may be given out, and in what order they are tried (KEP-3070: the upper band first). */
import { isIP } from "node:net";
import type { Random } from "../../base/random.ts";

export class AddressRange {
  readonly cidr: string;
  readonly family: "IPv4" | "IPv6";
  readonly #first: bigint;
  /** How many addresses can be given out: neither the first nor, for IPv4, the last. */
  readonly #size: bigint;
  readonly #bits: number;

  constructor(cidr: string) {
    this.cidr = cidr;
    const [address, length] = cidr.split("/") as [string, string];
    this.family = isIP(address) === 6 ? "IPv6" : "IPv4";
    this.#bits = this.family === "IPv6" ? 128 : 32;
    const hostBits = BigInt(this.#bits - Number(length));
    const base = (addressNumber(address) >> hostBits) << hostBits;
    const total = 1n << hostBits;
    this.#first = base + 1n;
    const usable = this.family === "IPv4" ? total - 2n : total - 1n;
    // Larger ranges are not used beyond 2^64 addresses.
    this.#size = usable > 1n << 64n ? 1n << 64n : usable;
  }

  contains(address: string): boolean {
    if ((isIP(address) === 6 ? "IPv6" : "IPv4") !== this.family) return false;
    const offset = addressNumber(address) - this.#first;
    return offset >= 0n && offset < this.#size;
  }

  /** A free address, or undefined when all are taken. Explicit choices usually come from the lower band, so it is tried last. */
  pick(random: Random, isTaken: (address: string) => boolean): string | undefined {
    const band = this.#reservedBand();
    return this.#pickBetween(band, this.#size, random, isTaken) ?? this.#pickBetween(0n, band, random, isTaken);
  }

  /** The first address of the range: the `kubernetes` Service's. */
  get first(): string {
    return addressText(this.#first, this.#bits);
  }

  #reservedBand(): bigint {
    const size = this.#size;
    if (size <= 16n) return 0n;
    const band = size / 16n;
    return band > 256n ? 256n : band < 16n ? 16n : band;
  }

  #pickBetween(from: bigint, to: bigint, random: Random, isTaken: (address: string) => boolean): string | undefined {
    const span = to - from;
    if (span <= 0n) return undefined;
    const limited = span > 0x7fff_ffffn ? 0x7fff_ffffn : span;
    const start = BigInt(random.integer(Number(limited)));
    // The whole band of an ordinary range is tried; of a huge one its first 65,536 addresses from a random start.
    const attempts = span > 65_536n ? 65_536n : span;
    for (let step = 0n; step < attempts; step++) {
      const candidate = addressText(this.#first + from + ((start + step) % span), this.#bits);
      if (!isTaken(candidate)) return candidate;
    }
    return undefined;
  }
}

/** An address as a number. */
export function addressNumber(address: string): bigint {
  if (isIP(address) === 4) return address.split(".").reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
  const [head = "", tail] = address.split("::") as [string, string | undefined];
  const expand = (text: string) => (text === "" ? [] : text.split(":").flatMap(embedded));
  const front = expand(head);
  const back = tail === undefined ? [] : expand(tail);
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => "0");
  return [...front, ...zeros, ...back].reduce((sum, part) => (sum << 16n) + BigInt(`0x${part}`), 0n);
}

/** The last group of an IPv6 address may be written as IPv4. */
function embedded(group: string): string[] {
  if (!group.includes(".")) return [group];
  const number = addressNumber(group);
  return [(number >> 16n).toString(16), (number & 0xffffn).toString(16)];
}

/** A number as an address of 32 or 128 bits, in canonical form. */
export function addressText(number: bigint, bits: number): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((number >> BigInt(16 * (7 - index))) & 0xffffn).toString(16));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
}
