/** Stored values that cannot be opened, as the cache holds them: a NUL, where they belong, a NUL, and why. No value of ours begins so. */
import { UndecodableError } from "../registry/storage/object-codec.ts";

/** `key`: without the root of all keys, with a slash in front. */
export function unreadableValue(key: string, fault: string): Buffer {
  return Buffer.from(`\0${key}\0${fault}`);
}

export function isUnreadable(bytes: Uint8Array): boolean {
  return bytes[0] === 0;
}

/** What is said of such a value. */
export function unreadableFault(bytes: Buffer): UndecodableError {
  const [, key = "", fault = ""] = bytes.toString().split("\0");
  return new UndecodableError(key, fault, true);
}
