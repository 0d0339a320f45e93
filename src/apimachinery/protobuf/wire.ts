/** The protobuf wire format: a writer that fills its buffer from the end, so that every length is known when it is written; a reader. */
import { DecodeError } from "../decode/decode-error.ts";
import { rawNumber } from "../json.ts";
import type { JsonValue, RawNumber } from "../json.ts";

export const wireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Writes backwards: what comes last in the message is written first. */
export class BackwardWriter {
  #buffer = Buffer.allocUnsafe(1024);
  #position = 1024;

  /** Bytes written so far. */
  get length(): number {
    return this.#buffer.length - this.#position;
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer.slice(this.#buffer.byteOffset + this.#position, this.#buffer.byteOffset + this.#buffer.length));
  }

  tag(number: number, type: number): void {
    this.varint(number * 8 + type);
  }

  /** The length of what was written since the writer had `before` bytes, and the field's tag. */
  closeMessage(number: number, before: number): void {
    this.varint(this.length - before);
    this.tag(number, wireType.bytes);
  }

  string(number: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#position -= length;
    this.#buffer.write(text, this.#position, length, "utf8");
    this.varint(length);
    this.tag(number, wireType.bytes);
  }

  bytes(number: number, bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
    this.tag(number, wireType.bytes);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#position -= bytes.length;
    this.#buffer.set(bytes, this.#position);
  }

  double(number: number, value: number): void {
    this.#reserve(8);
    this.#position -= 8;
    this.#buffer.writeDoubleLE(value, this.#position);
    this.tag(number, wireType.fixed64);
  }

  float(number: number, value: number): void {
    this.#reserve(4);
    this.#position -= 4;
    this.#buffer.writeFloatLE(value, this.#position);
    this.tag(number, wireType.fixed32);
  }

  integer(number: number, value: number | bigint): void {
    this.varint(value);
    this.tag(number, wireType.varint);
  }

  /** Negative numbers take ten bytes, as two's complement of 64 bits. */
  varint(value: number | bigint): void {
    if (typeof value === "number" && value >= 0 && value < 0x80) {
      this.#reserve(1);
      this.#buffer[--this.#position] = value;
      return;
    }
    const bytes: number[] = [];
    if (typeof value === "number" && value >= 0 && value <= 0xffff_ffff) {
      let rest = value;
      for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
      bytes.push(rest);
    } else {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
      bytes.push(Number(rest));
    }
    this.#reserve(bytes.length);
    this.#position -= bytes.length;
    this.#buffer.set(bytes, this.#position);
  }

  #reserve(count: number): void {
    if (this.#position >= count) return;
    const used = this.length;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used + count + 256));
    this.#buffer.copy(larger, larger.length - used, this.#position);
    this.#buffer = larger;
    this.#position = larger.length - used;
  }
}

/** One field of a message as it stands on the wire. */
export interface WireField {
  readonly number: number;
  readonly type: number;
  /** Value of a varint or fixed field. */
  readonly value: bigint;
  /** Content of a length-delimited field. */
  readonly bytes: Uint8Array;
}

const none = new Uint8Array(0);

/** Walks over the fields of a message; throws a `DecodeError` for damaged bytes. */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint());
    const number = Math.floor(tag / 8);
    const type = tag % 8;
    if (number === 0) throw new DecodeError("syntax", `proto: illegal tag ${number} (wire type ${type})`);
    switch (type) {
      case wireType.varint:
        yield { number, type, value: reader.varint(), bytes: none };
        break;
      case wireType.fixed64:
        yield { number, type, value: reader.fixed(8), bytes: none };
        break;
      case wireType.bytes:
        yield { number, type, value: 0n, bytes: reader.take(Number(reader.varint())) };
        break;
      case wireType.fixed32:
        yield { number, type, value: reader.fixed(4), bytes: none };
        break;
      default:
        throw new DecodeError("syntax", `proto: illegal wireType ${type}`);
    }
  }
}

/** The varints in a packed field. */
export function* packedVarints(bytes: Uint8Array): Generator<bigint> {
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) yield reader.varint();
}

class Reader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  varint(): bigint {
    let low = 0;
    for (let shift = 1; shift <= 2 ** 42; shift *= 128) {
      const byte = this.#next();
      low += (byte & 0x7f) * shift;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#next();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new DecodeError("syntax", "proto: integer overflow");
  }

  fixed(size: number): bigint {
    const bytes = this.take(size);
    let value = 0n;
    for (let index = size - 1; index >= 0; index--) value = (value << 8n) | BigInt(bytes[index]!);
    return value;
  }

  take(count: number): Uint8Array {
    if (this.#position + count > this.#bytes.length) throw new DecodeError("syntax", "unexpected EOF");
    this.#position += count;
    return this.#bytes.subarray(this.#position - count, this.#position);
  }

  #next(): number {
    const byte = this.#bytes[this.#position++];
    if (byte === undefined) throw new DecodeError("syntax", "unexpected EOF");
    return byte;
  }
}

/** A signed or unsigned 64-bit integer as a JSON number. */
export function jsonInteger(value: bigint): number | RawNumber {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : rawNumber(value.toString());
}

/** An integer of JSON as the wire takes it. */
export function wireInteger(value: JsonValue): number | bigint {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : BigInt(value);
  return BigInt((value as RawNumber).rawJSON);
}
