/**
 * Plain proto3 messages described by tables, for the protocols spoken beside the API: the container runtime interface, etcd. A row of a
 * message is `[fieldName, number, type, label?]`, where the label is `repeated` or `oneof:NAME`; types are scalars, `map<K,V>`, or the name
 * of a message or enum, relative to the message that uses it.
 */
import { BackwardWriter, FieldCursor, floatOfBits, wireType } from "./wire.ts";

export type MessageRow = readonly [name: string, number: number, type: string, label?: string];
export interface MessageFacts {
  readonly messages: Readonly<Record<string, readonly MessageRow[]>>;
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

type ScalarType = "bool" | "bytes" | "double" | "float" | "int32" | "int64" | "string" | "uint32" | "uint64" | "sint32" | "sint64" | "fixed64" | "fixed32";
type Type =
  | { readonly shape: "scalar"; readonly scalar: ScalarType }
  | { readonly shape: "enum"; readonly numbers: Readonly<Record<string, number>>; readonly names: ReadonlyMap<number, string> }
  | { readonly shape: "message"; readonly name: string }
  | { readonly shape: "map"; readonly key: Type; readonly value: Type };
interface Field {
  readonly name: string;
  readonly number: number;
  readonly type: Type;
  readonly isRepeated: boolean;
  /** Members of a oneof are written even when they hold their zero value. */
  readonly isAlternative: boolean;
}

const scalars: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "float",
  "int32",
  "int64",
  "string",
  "uint32",
  "uint64",
  "sint32",
  "sint64",
  "fixed64",
  "fixed32",
]);

/** Encodes and decodes the messages of one table. */
export class MessageCodec {
  readonly #facts: MessageFacts;
  readonly #plans = new Map<string, readonly Field[]>();

  constructor(facts: MessageFacts) {
    this.#facts = facts;
  }

  /** The bytes of a message. Enums may be names or numbers, 64-bit integers numbers or bigints; unknown members are ignored. */
  encode(messageName: string, value: Readonly<Record<string, unknown>>): Uint8Array {
    const writer = new BackwardWriter();
    this.#write(writer, messageName, value);
    return writer.finish();
  }

  /**
   * The message in `bytes`. Scalars, lists and maps that are absent have their zero value; messages and members of a oneof that are absent
   * are left out. Enums are names, where they have one. Throws a `DecodeError` for damaged bytes.
   */
  decode(messageName: string, bytes: Uint8Array): Record<string, unknown> {
    return this.#decode(messageName, new FieldCursor(bytes));
  }

  #decode(messageName: string, cursor: FieldCursor): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const fields = this.#plan(messageName);
    for (const field of fields)
      if (!field.isAlternative && (field.isRepeated || field.type.shape !== "message")) object[field.name] = field.isRepeated ? [] : zeroOf(field.type);
    while (cursor.next()) {
      const field = fields.find((candidate) => candidate.number === cursor.number);
      if (field !== undefined) this.#read(object, field, cursor);
    }
    return object;
  }

  #plan(messageName: string): readonly Field[] {
    const known = this.#plans.get(messageName);
    if (known !== undefined) return known;
    const rows = this.#facts.messages[messageName];
    if (rows === undefined) throw new Error(`the message ${messageName} is not in the table`);
    const fields = rows.map(([name, number, type, label]) => ({
      name,
      number,
      type: this.#type(type, messageName),
      isRepeated: label === "repeated",
      isAlternative: label?.startsWith("oneof:") === true,
    }));
    fields.sort((left, right) => left.number - right.number);
    this.#plans.set(messageName, fields);
    return fields;
  }

  #type(name: string, scope: string): Type {
    if (scalars.has(name)) return { shape: "scalar", scalar: name as ScalarType };
    const map = /^map<(.+),(.+)>$/.exec(name);
    if (map !== null) return { shape: "map", key: this.#type(map[1]!, scope), value: this.#type(map[2]!, scope) };
    if (name.startsWith(".")) return this.#named(name.slice(1), name);
    // The innermost scope that has the name wins.
    const parts = scope.split(".");
    for (let length = parts.length; length >= 0; length--) {
      const full = [...parts.slice(0, length), name].join(".");
      if (this.#facts.messages[full] !== undefined || this.#facts.enums[full] !== undefined) return this.#named(full, name);
    }
    return this.#named(name, name);
  }

  #named(full: string, name: string): Type {
    const numbers = this.#facts.enums[full];
    if (numbers !== undefined) return { shape: "enum", numbers, names: new Map(Object.entries(numbers).map(([word, number]) => [number, word])) };
    if (this.#facts.messages[full] === undefined) throw new Error(`the type ${name} is not in the table`);
    return { shape: "message", name: full };
  }

  #write(writer: BackwardWriter, messageName: string, value: Readonly<Record<string, unknown>>): void {
    for (const field of this.#plan(messageName).toReversed()) {
      const member = value[field.name];
      if (member === undefined || member === null) continue;
      if (field.isRepeated) this.#writeList(writer, field, member as readonly unknown[]);
      else if (field.type.shape === "map") this.#writeMap(writer, field.number, field.type, member as Readonly<Record<string, unknown>>);
      else if (field.isAlternative || field.type.shape === "message" || !isZero(member, field.type)) this.#writeValue(writer, field.number, field.type, member);
    }
  }

  #writeList(writer: BackwardWriter, { number, type }: Field, items: readonly unknown[]): void {
    const isPacked = type.shape === "enum" || (type.shape === "scalar" && type.scalar !== "string" && type.scalar !== "bytes");
    if (!isPacked) {
      for (let index = items.length - 1; index >= 0; index--) this.#writeValue(writer, number, type, items[index]);
      return;
    }
    if (items.length === 0) return;
    const before = writer.length;
    for (let index = items.length - 1; index >= 0; index--) writer.varint(integerOf(items[index], type));
    writer.closeMessage(number, before);
  }

  #writeMap(writer: BackwardWriter, number: number, type: Extract<Type, { shape: "map" }>, map: Readonly<Record<string, unknown>>): void {
    for (const key of Object.keys(map).sort().reverse()) {
      const before = writer.length;
      this.#writeValue(writer, 2, type.value, map[key]);
      this.#writeValue(writer, 1, type.key, type.key.shape === "scalar" && type.key.scalar !== "string" ? BigInt(key) : key);
      writer.closeMessage(number, before);
    }
  }

  #writeValue(writer: BackwardWriter, number: number, type: Type, value: unknown): void {
    if (type.shape === "message") {
      const before = writer.length;
      this.#write(writer, type.name, value as Readonly<Record<string, unknown>>);
      writer.closeMessage(number, before);
    } else if (type.shape === "scalar" && type.scalar === "string") writer.string(number, value as string);
    else if (type.shape === "scalar" && type.scalar === "bytes") writer.bytes(number, value as Uint8Array);
    else if (type.shape === "scalar" && type.scalar === "double") writer.double(number, value as number);
    else if (type.shape === "scalar" && type.scalar === "float") writer.float(number, value as number);
    else writer.integer(number, integerOf(value, type));
  }

  #read(object: Record<string, unknown>, field: Field, cursor: FieldCursor): void {
    const { type, name } = field;
    if (field.isRepeated) {
      const list = object[name] as unknown[];
      const isPacked =
        cursor.type === wireType.bytes && (type.shape === "enum" || (type.shape === "scalar" && type.scalar !== "string" && type.scalar !== "bytes"));
      if (isPacked) for (const item of cursor.packed()) list.push(this.#value(type, item));
      else list.push(this.#value(type, cursor));
    } else if (type.shape === "map") {
      let key: unknown = zeroOf(type.key);
      let value: unknown = type.value.shape === "message" ? {} : zeroOf(type.value);
      const part = cursor.message();
      while (part.next()) {
        if (part.number === 1) key = this.#value(type.key, part);
        else if (part.number === 2) value = this.#value(type.value, part);
      }
      (object[name] as Record<string, unknown>)[String(key)] = value;
    } else object[name] = this.#value(type, cursor);
  }

  #value(type: Type, cursor: FieldCursor): unknown {
    if (type.shape === "message") return this.#decode(type.name, cursor.message());
    if (type.shape === "enum") return type.names.get(Number(cursor.signed(32))) ?? Number(cursor.signed(32));
    return type.shape === "scalar" ? scalarValue(type.scalar, cursor) : undefined;
  }
}

function scalarValue(scalar: ScalarType, cursor: FieldCursor): unknown {
  switch (scalar) {
    case "string":
      return cursor.text;
    case "bytes":
      return Uint8Array.from(cursor.bytes);
    case "bool":
      return Number(cursor.value) !== 0;
    case "double":
      return floatOfBits(cursor.value, 8);
    case "float":
      return floatOfBits(cursor.value, 4);
    case "int32":
      return Number(cursor.signed(32));
    case "sint32":
    case "sint64":
      return safeInteger((BigInt(cursor.value) >> 1n) ^ -(BigInt(cursor.value) & 1n));
    case "int64":
      return safeInteger(cursor.signed(64));
    default:
      return safeInteger(cursor.value);
  }
}

function safeInteger(value: number | bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function integerOf(value: unknown, type: Type): number | bigint {
  if (type.shape === "enum" && typeof value === "string") {
    const number = type.numbers[value];
    if (number === undefined) throw new Error(`the enum has no value ${JSON.stringify(value)}`);
    return number;
  }
  if (typeof value === "boolean") return value ? 1 : 0;
  const integer = typeof value === "bigint" ? value : BigInt(value as number);
  if (type.shape === "scalar" && (type.scalar === "sint32" || type.scalar === "sint64")) return BigInt.asUintN(64, (integer << 1n) ^ (integer >> 63n));
  return integer >= 0n && integer <= 0xffff_ffffn ? Number(integer) : integer;
}

function isZero(value: unknown, type: Type): boolean {
  if (type.shape === "enum") return value === 0 || type.names.get(0) === value;
  if (value instanceof Uint8Array) return value.length === 0;
  return value === "" || value === 0 || value === 0n || value === false;
}

function zeroOf(type: Type): unknown {
  if (type.shape === "map") return {};
  if (type.shape === "enum") return type.names.get(0) ?? 0;
  if (type.shape === "message") return undefined;
  switch (type.scalar) {
    case "string":
      return "";
    case "bytes":
      return new Uint8Array(0);
    case "bool":
      return false;
    default:
      return 0;
  }
}
