/**
 * Protobuf (proto3) driven by message tables such as `data/cri-v1.json`: a message is a list of `[field, number, type, "repeated"?]`.
 * Decoded messages are complete: absent strings are "", numbers 0, booleans false, lists and maps empty, enums their zero name;
 * only absent messages stay absent. 64-bit integers are numbers. Unknown fields are skipped.
 */

export interface MessageTables {
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly messages: Readonly<Record<string, readonly FieldRow[]>>;
}
export type FieldRow = readonly [name: string, number: number, type: string, label?: string];

export class Wire {
  readonly #tables: MessageTables;
  readonly #plans = new Map<string, MessagePlan>();

  constructor(tables: MessageTables) {
    this.#tables = tables;
  }

  encode(message: string, value: unknown): Buffer {
    const writer = new Writer();
    this.#encode(this.#plan(message), value as Readonly<Record<string, unknown>>, writer);
    return writer.finish();
  }

  decode(message: string, bytes: Uint8Array): Record<string, unknown> {
    return this.#decode(this.#plan(message), new Reader(bytes, 0, bytes.length));
  }

  #encode(plan: MessagePlan, value: Readonly<Record<string, unknown>>, writer: Writer): void {
    for (const field of plan.fields) {
      const item = value[field.name];
      if (item === undefined || item === null) continue;
      if (field.shape === "map") {
        for (const [key, entry] of Object.entries(item)) {
          const inner = new Writer();
          encodeScalar({ number: 1, type: "string" }, key, inner);
          encodeScalar({ number: 2, type: "string" }, entry, inner);
          writer.bytes(field.number, inner.finish());
        }
      } else if (field.shape === "repeated") {
        for (const entry of item as readonly unknown[]) this.#encodeValue(field, entry, writer);
      } else if (!isDefault(field, item)) {
        this.#encodeValue(field, item, writer);
      }
    }
  }

  #encodeValue(field: FieldPlan, value: unknown, writer: Writer): void {
    if (field.kind === "message") {
      const inner = new Writer();
      this.#encode(this.#plan(field.type), value as Readonly<Record<string, unknown>>, inner);
      writer.bytes(field.number, inner.finish());
    } else if (field.kind === "enum") {
      const number = typeof value === "number" ? value : this.#tables.enums[field.type]?.[String(value)];
      if (number === undefined) throw new TypeError(`${field.name}: ${String(value)} is no ${field.type}`);
      writer.varint(field.number, number);
    } else {
      encodeScalar(field, value, writer);
    }
  }

  #decode(plan: MessagePlan, reader: Reader): Record<string, unknown> {
    const value = plan.empty();
    while (!reader.isAtEnd) {
      const tag = reader.varint();
      const field = plan.byNumber.get(tag >>> 3);
      const wireType = tag & 7;
      if (field === undefined) reader.skip(wireType);
      else this.#decodeField(field, wireType, reader, value);
    }
    return value;
  }

  #decodeField(field: FieldPlan, wireType: number, reader: Reader, value: Record<string, unknown>): void {
    if (field.shape === "map") {
      const entry = this.#decode(mapEntry, reader.nested());
      (value[field.name] as Record<string, unknown>)[String(entry["key"])] = entry["value"];
    } else if (field.shape === "repeated" && wireType === 2 && field.isPackable) {
      const packed = reader.nested();
      while (!packed.isAtEnd) (value[field.name] as unknown[]).push(this.#decodeValue(field, packed));
    } else if (field.shape === "repeated") {
      (value[field.name] as unknown[]).push(this.#decodeValue(field, reader));
    } else {
      value[field.name] = this.#decodeValue(field, reader);
    }
  }

  #decodeValue(field: FieldPlan, reader: Reader): unknown {
    if (field.kind === "message") return this.#decode(this.#plan(field.type), reader.nested());
    if (field.kind === "enum") {
      const number = reader.varint();
      return Object.entries(this.#tables.enums[field.type]!).find(([, value]) => value === number)?.[0] ?? number;
    }
    switch (field.type) {
      case "string":
        return reader.bytes().toString("utf8");
      case "bytes":
        return reader.bytes();
      case "bool":
        return reader.varint() !== 0;
      case "double":
        return reader.double();
      default:
        return reader.varint();
    }
  }

  #plan(message: string): MessagePlan {
    let plan = this.#plans.get(message);
    if (plan !== undefined) return plan;
    const rows = this.#tables.messages[message];
    if (rows === undefined) throw new TypeError(`unknown message ${message}`);
    plan = planOf(rows, this.#tables);
    this.#plans.set(message, plan);
    return plan;
  }
}

type FieldPlan = {
  name: string;
  number: number;
  type: string;
  kind: "scalar" | "message" | "enum";
  shape: "single" | "repeated" | "map";
  isPackable: boolean;
  zero: unknown;
};
type MessagePlan = { fields: FieldPlan[]; byNumber: Map<number, FieldPlan>; empty(): Record<string, unknown> };

const noTables: MessageTables = { enums: {}, messages: {} };
const mapEntry = planOf([["key", 1, "string"], ["value", 2, "string"]], noTables);

function planOf(rows: readonly FieldRow[], tables: MessageTables): MessagePlan {
  const fields = rows.map(([name, number, type, label]): FieldPlan => {
    const kind = tables.messages[type] !== undefined ? "message" : tables.enums[type] !== undefined ? "enum" : "scalar";
    const shape = type.startsWith("map<") ? "map" : label === "repeated" ? "repeated" : "single";
    const isPackable = kind === "enum" || (kind === "scalar" && type !== "string" && type !== "bytes");
    return { name, number, type, kind, shape, isPackable, zero: zeroOf(type, kind, tables) };
  });
  const empty = () => {
    const value: Record<string, unknown> = {};
    for (const field of fields) {
      if (field.shape === "map") value[field.name] = {};
      else if (field.shape === "repeated") value[field.name] = [];
      else if (field.kind !== "message") value[field.name] = field.zero;
    }
    return value;
  };
  return { fields, byNumber: new Map(fields.map((field) => [field.number, field])), empty };
}

function zeroOf(type: string, kind: FieldPlan["kind"], tables: MessageTables): unknown {
  if (kind === "enum") return Object.entries(tables.enums[type]!).find(([, value]) => value === 0)?.[0] ?? 0;
  if (type === "string") return "";
  if (type === "bool") return false;
  return type === "bytes" ? Buffer.alloc(0) : 0;
}

function isDefault(field: FieldPlan, value: unknown): boolean {
  if (field.kind === "message") return false;
  if (field.type === "bytes") return (value as string | Uint8Array).length === 0;
  return value === field.zero;
}

function encodeScalar(field: { number: number; type: string }, value: unknown, writer: Writer): void {
  switch (field.type) {
    case "string":
    case "bytes":
      writer.bytes(field.number, typeof value === "string" ? Buffer.from(value, "utf8") : (value as Uint8Array));
      return;
    case "bool":
      writer.varint(field.number, value === true ? 1 : 0);
      return;
    case "double":
      writer.double(field.number, Number(value));
      return;
    default:
      writer.varint(field.number, Number(value));
  }
}

class Writer {
  readonly #parts: Uint8Array[] = [];

  varint(fieldNumber: number, value: number): void {
    this.#parts.push(varintBytes(fieldNumber * 8), varintBytes(value));
  }

  bytes(fieldNumber: number, value: Uint8Array): void {
    this.#parts.push(varintBytes(fieldNumber * 8 + 2), varintBytes(value.length), value);
  }

  double(fieldNumber: number, value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(varintBytes(fieldNumber * 8 + 1), bytes);
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Negative numbers are written as their 64-bit two's complement, ten bytes. */
function varintBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

class Reader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** A signed 64-bit integer, as a number. */
  varint(): number {
    let low = 0;
    let shift = 0;
    for (; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 127) << shift;
      if (byte < 128) return low;
    }
    let big = BigInt(low);
    for (; ; shift += 7) {
      const byte = this.#byte();
      big |= BigInt(byte & 127) << BigInt(shift);
      if (byte < 128 || shift >= 63) return Number(BigInt.asIntN(64, big));
    }
  }

  double(): number {
    const value = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#advance(8), 8);
    return value.getFloat64(0, true);
  }

  bytes(): Buffer {
    const length = this.varint();
    const start = this.#advance(length);
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, length);
  }

  nested(): Reader {
    const length = this.varint();
    const start = this.#advance(length);
    return new Reader(this.#bytes, start, start + length);
  }

  skip(wireType: number): void {
    if (wireType === 0) this.varint();
    else if (wireType === 1) this.#advance(8);
    else if (wireType === 2) this.#advance(this.varint());
    else if (wireType === 5) this.#advance(4);
    else throw new RangeError(`wire type ${wireType} is not used by proto3`);
  }

  #byte(): number {
    return this.#bytes[this.#advance(1)]!;
  }

  #advance(count: number): number {
    const start = this.#at;
    if (count < 0 || start + count > this.#end) throw new RangeError("the message is cut short");
    this.#at = start + count;
    return start;
  }
}
