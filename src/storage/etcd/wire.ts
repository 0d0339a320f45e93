/**
 * Protobuf for the few messages of etcd's v3 API that the store speaks: a message is a table of its fields, a value a plain object. Field
 * numbers are those of etcd's `rpc.proto` and `kv.proto`. Fields that are not in the table are skipped.
 */
import { invariant } from "../../base/invariant.ts";

/** A field: its number, and what it holds; `[message]` is a repeated one. Integers are numbers (exact to 2^53). */
export type Field = readonly [number, "int" | "bool" | "bytes" | "string" | Message | readonly [Message]];
export type Message = { readonly [name: string]: Field };

/** The bytes of `value`, whose fields are those of `message`. Absent fields, zeros, false and empty bytes are left out, as proto3 does. */
export function encode(message: Message, value: object): Buffer {
  const parts: Uint8Array[] = [];
  const fields = value as Record<string, unknown>;
  for (const [name, [number, kind]] of Object.entries(message)) {
    const field = fields[name];
    if (field === undefined || field === null) continue;
    if (kind === "int" || kind === "bool") {
      if (Number(field) !== 0) parts.push(varint(number * 8), varint(Number(field)));
    } else if (kind === "bytes" || kind === "string") {
      const bytes = kind === "bytes" ? (field as Uint8Array) : Buffer.from(field as string);
      if (bytes.length > 0) parts.push(varint(number * 8 + 2), varint(bytes.length), bytes);
    } else {
      const inner = kind as Message | readonly [Message];
      const messages = isRepeated(inner) ? (field as object[]).map((one) => encode(inner[0], one)) : [encode(inner, field)];
      for (const bytes of messages) parts.push(varint(number * 8 + 2), varint(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

/** The value in `bytes`: every field of `message` is there (zero values for absent ones), except messages that are absent. */
export function decode(message: Message, bytes: Buffer): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const byNumber = new Map<number, { name: string; kind: Field[1] }>();
  for (const [name, [number, kind]] of Object.entries(message)) {
    byNumber.set(number, { name, kind });
    if (kind === "int") result[name] = 0;
    else if (kind === "bool") result[name] = false;
    else if (kind === "bytes") result[name] = new Uint8Array(0);
    else if (kind === "string") result[name] = "";
    else if (isRepeated(kind)) result[name] = [];
  }
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    const field = byNumber.get(Math.floor(tag / 8));
    const wireType = tag % 8;
    const content = wireType === 0 ? reader.varint() : reader.bytes(wireType === 2 ? reader.varint() : fixedBytes(wireType));
    if (field === undefined) continue;
    const { name, kind } = field;
    if (typeof content === "number") result[name] = kind === "bool" ? content !== 0 : content;
    else if (kind === "bytes") result[name] = content;
    else if (kind === "string") result[name] = content.toString("utf8");
    else if (typeof kind === "object" && isRepeated(kind)) (result[name] as unknown[]).push(decode(kind[0], content));
    else result[name] = decode(kind as Message, content);
  }
  return result;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++];
      invariant(byte !== undefined && scale < 2 ** 70, "etcd sent a broken message");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  bytes(length: number): Buffer {
    invariant(this.#at + length <= this.#bytes.length, "etcd sent a broken message");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

function fixedBytes(wireType: number): number {
  invariant(wireType === 1 || wireType === 5, "etcd sent a broken message");
  return wireType === 1 ? 8 : 4;
}

function isRepeated(kind: Field[1]): kind is readonly [Message] {
  return Array.isArray(kind);
}
