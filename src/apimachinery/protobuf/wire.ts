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

  /** What was written, as a copy; the writer begins anew. */
  take(): Uint8Array {
    const bytes = Buffer.from(this.#buffer.subarray(this.#position));
    this.#position = this.#buffer.length;
    return bytes;
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
    const length = this.#ascii(text) ? text.length : this.#utf8(text);
    this.varint(length);
    this.tag(number, wireType.bytes);
  }

  /** Short texts are nearly always ASCII, and a call into the runtime costs more than this loop. */
  #ascii(text: string): boolean {
    const { length } = text;
    if (length > 48) return false;
    this.#reserve(length);
    const start = this.#position - length;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#buffer[start + index] = code;
    }
    this.#position = start;
    return true;
  }

  #utf8(text: string): number {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#position -= length;
    this.#buffer.write(text, this.#position, length, "utf8");
    return length;
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

/**
 * Walks over the fields of a message: `next` moves to the next one, the other members tell of it. Throws a `DecodeError` for damaged bytes.
 */
export class FieldCursor {
  readonly #bytes: Buffer;
  #position: number;
  #start = 0;
  #end: number;
  readonly #limit: number;
  number = 0;
  type = 0;
  /** Value of a varint or fixed field, unsigned; a bigint above 2^49. */
  value: number | bigint = 0;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
    this.#end = start;
    this.#limit = end;
  }

  next(): boolean {
    if (this.#position >= this.#limit) return false;
    const tag = Number(this.#varint());
    this.number = Math.floor(tag / 8);
    this.type = tag % 8;
    if (this.number === 0) throw new DecodeError("syntax", `proto: illegal tag ${this.number} (wire type ${this.type})`);
    switch (this.type) {
      case wireType.varint:
        this.value = this.#varint();
        break;
      case wireType.fixed64:
        this.#take(8);
        this.value = this.#bytes.readBigUInt64LE(this.#start);
        break;
      case wireType.bytes:
        this.#take(Number(this.#varint()));
        break;
      case wireType.fixed32:
        this.#take(4);
        this.value = this.#bytes.readUInt32LE(this.#start);
        break;
      default:
        throw new DecodeError("syntax", `proto: illegal wireType ${this.type}`);
    }
    return true;
  }

  /** Moves to the last field of that number, which is the one that counts; false when there is none. */
  last(number: number): boolean {
    let found: { value: number | bigint; type: number; start: number; end: number } | undefined;
    while (this.next()) if (this.number === number) found = { value: this.value, type: this.type, start: this.#start, end: this.#end };
    if (found === undefined) return false;
    this.number = number;
    this.type = found.type;
    this.value = found.value;
    this.#start = found.start;
    this.#end = found.end;
    return true;
  }

  /** Content of a length-delimited field; a view. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  get length(): number {
    return this.#end - this.#start;
  }

  get text(): string {
    return this.#bytes.toString("utf8", this.#start, this.#end);
  }

  /** The value as a signed number of `bits` bits. */
  signed(bits: 32 | 64): number | bigint {
    if (typeof this.value === "number" && this.value < 0x8000_0000) return this.value;
    const value = BigInt.asIntN(bits, BigInt(this.value));
    return bits === 32 || (value >= -0x8000_0000n && value <= 0x7fff_ffffn) ? Number(value) : value;
  }

  /** A cursor over the message in this field. */
  message(): FieldCursor {
    return new FieldCursor(this.#bytes, this.#start, this.#end);
  }

  /** The varints packed in this field; each becomes the cursor's value in turn. */
  *packed(): Generator<this> {
    const content = this.message();
    while (content.#position < content.#limit) {
      this.value = content.#varint();
      yield this;
    }
  }

  #varint(): number | bigint {
    let low = 0;
    let scale = 1;
    for (let count = 0; count < 7; count++) {
      const byte = this.#byte();
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) return low;
      scale *= 128;
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new DecodeError("syntax", "proto: integer overflow");
  }

  #take(count: number): void {
    this.#start = this.#position;
    this.#end = this.#position + count;
    if (this.#end > this.#limit) throw new DecodeError("syntax", "unexpected EOF");
    this.#position = this.#end;
  }

  #byte(): number {
    if (this.#position >= this.#limit) throw new DecodeError("syntax", "unexpected EOF");
    return this.#bytes[this.#position++]!;
  }
}

/** A float or double from the bits of a fixed field. */
export function floatOfBits(bits: number | bigint, size: 4 | 8): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(bits));
  return size === 8 ? view.getFloat64(0) : view.getFloat32(4);
}

/** A signed or unsigned 64-bit integer as a JSON number. */
export function jsonInteger(value: number | bigint): number | RawNumber {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : rawNumber(value.toString());
}

/** An integer of JSON as the wire takes it. */
export function wireInteger(value: JsonValue): number | bigint {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : BigInt(value);
  return BigInt((value as RawNumber).rawJSON);
}
