/** Randomness as an option: the machine's in production, a seeded sequence in tests. */
import { randomFillSync } from "node:crypto";

/** Randomness as an option: from the system, or repeatable from a seed. */
export interface Random {
  /** `count` random bytes. */
  bytes(count: number): Uint8Array;
  /** An integer in [0, bound). `bound` is at most 2^31. */
  integer(bound: number): number;
  /** A number in [0, 1). */
  fraction(): number;
}

/** Cryptographic randomness, fetched from the machine in larger pieces: each byte is handed out once. */
export function systemRandom(): Random {
  const pool = new Uint8Array(poolBytes);
  let used = poolBytes;
  /** Where the next `count` bytes of the pool begin. */
  const take = (count: number) => {
    if (used + count > poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return used - count;
  };
  const bytes = (count: number) => {
    if (count > poolBytes) return randomFillSync(new Uint8Array(count));
    const from = take(count);
    const taken = pool.slice(from, from + count);
    pool.fill(0, from, from + count);
    return taken;
  };
  const view = new DataView(pool.buffer);
  const word = () => {
    const from = take(4);
    const value = view.getUint32(from);
    view.setUint32(from, 0);
    return value;
  };
  return fromWords(bytes, word);
}

const poolBytes = 4096;

/** A repeatable sequence (xoshiro128**, seeded by splitmix32). Not for secrets. */
export function seededRandom(seed: number): Random {
  let mix = seed >>> 0;
  const next = () => {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  let [a, b, c, d] = [next(), next(), next(), next()];
  const rotate = (value: number, by: number) => ((value << by) | (value >>> (32 - by))) >>> 0;
  const word = () => {
    const result = Math.imul(rotate(Math.imul(b, 5) >>> 0, 7), 9) >>> 0;
    const shifted = (b << 9) >>> 0;
    c = (c ^ a) >>> 0;
    d = (d ^ b) >>> 0;
    b = (b ^ c) >>> 0;
    a = (a ^ d) >>> 0;
    c = (c ^ shifted) >>> 0;
    d = rotate(d, 11);
    return result;
  };
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => word() & 255);
  return fromWords(bytes, word);
}

function fromWords(bytes: (count: number) => Uint8Array, word: () => number): Random {
  return { bytes, integer: (bound) => Math.floor((word() / 0x1_0000_0000) * bound), fraction: () => word() / 0x1_0000_0000 };
}
