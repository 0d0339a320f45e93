import { isRawNumber } from "../../apimachinery/json.ts";

/**
 * A short name for a template: FNV-1a of its canonical JSON (and of a number that tells collisions apart), in letters that make no words.
 * Equal templates have equal hashes, whatever the order of their members.
 */
export function templateHash(template: unknown, collisionCount: number | undefined): string {
  const text = canonicalText(template) + (collisionCount === undefined ? "" : `#${collisionCount}`);
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return safeLetters(String(hash));
}

/** Text made of letters that are safe in names: no vowels, no look-alikes. */
export function safeLetters(text: string): string {
  return Array.from(text, (character) => letters[character.charCodeAt(0) % letters.length]).join("");
}

const letters = "bcdfghjklmnpqrstvwxz2456789";

function canonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`).join(",")}}`;
}
