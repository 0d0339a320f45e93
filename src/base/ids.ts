import type { Random } from "./random.ts";

/** A random UUID (version 4) from `random`. */
export function newUid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  let text = "";
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
    text += hexOfByte[bytes[index]!]!;
  }
  return text;
}

const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Letters of generated names: no vowels and no look-alikes, so that no words appear (API concept "generateName"). */
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789";

/** A suffix as `metadata.generateName` gets it: `length` letters. */
export function nameSuffix(random: Random, length = 5): string {
  let suffix = "";
  for (let index = 0; index < length; index++) suffix += suffixLetters[random.integer(suffixLetters.length)];
  return suffix;
}
