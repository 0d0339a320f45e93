/** JSON as values, without copying: members are turned into values when they are asked for, by their declared type where there is one. */
import { isRawNumber } from "../../json.ts";
import type { CelType, StructType } from "../check/types.ts";
import { parseDuration, parseWordyDuration } from "./durations.ts";
import { parseTimestamp } from "./timestamps.ts";
import { ArrayList, CelError, Double, hashOf, intOf, ListValue, MapValue, ObjectValue, Uint } from "./values.ts";
import type { Value } from "./values.ts";

/** The value of JSON of a declared type; `dyn` takes it as it is: whole numbers are integers, all others doubles. */
export function fromJson(json: unknown, type: CelType): Value {
  if (json === null || json === undefined) return null;
  switch (typeof json) {
    case "boolean":
      return json;
    case "string":
      return fromText(json, type);
    case "number":
      return fromNumber(json, type);
  }
  if (isRawNumber(json)) return fromNumberText(json.rawJSON, type);
  if (Array.isArray(json)) {
    if (type.kind !== "list") return new JsonList(json, dyn);
    return type.listKeys === undefined ? new JsonList(json, type.parameters[0]!) : new KeyedList(json, type.parameters[0]!, type.listKeys);
  }
  if (type.kind === "struct") return new JsonObject(json as Record<string, unknown>, type);
  return new JsonMap(json as Record<string, unknown>, type.kind === "map" ? type.parameters[1]! : dyn);
}

const dyn: CelType = { kind: "dyn" };

export class JsonList extends ListValue {
  readonly items: readonly unknown[];
  readonly itemType: CelType;

  constructor(items: readonly unknown[], itemType: CelType) {
    super();
    this.items = items;
    this.itemType = itemType;
  }

  override get size(): number {
    return this.items.length;
  }

  override at(index: number): Value {
    return fromJson(this.items[index], this.itemType);
  }
}

/** A list that is a set or a map by some fields: order does not count, and adding replaces items of the same key. */
export class KeyedList extends JsonList {
  readonly keys: readonly string[];

  constructor(items: readonly unknown[], itemType: CelType, keys: readonly string[]) {
    super(items, itemType);
    this.keys = keys;
  }

  override equals(other: ListValue, isEqual: (left: Value, right: Value) => boolean): boolean {
    if (this.size !== other.size) return false;
    const others = this.#byKey(other);
    for (const item of this) {
      const same = others.get(this.#key(item));
      if (same === undefined || !isEqual(item, same)) return false;
    }
    return true;
  }

  override plus(other: ListValue): ListValue {
    const merged = this.#byKey(this);
    for (const [key, item] of this.#byKey(other)) merged.set(key, item);
    return new ArrayList([...merged.values()]);
  }

  #byKey(list: ListValue): Map<unknown, Value> {
    return new Map([...list].map((item) => [this.#key(item), item]));
  }

  #key(item: Value): unknown {
    if (this.keys.length === 0) return hashOf(item);
    const parts = this.keys.map((key) => {
      const part = item instanceof ObjectValue ? item.field(key) : item instanceof MapValue ? item.get(key) : undefined;
      return part === undefined ? "" : `${typeof part}:${String(hashOf(part))}`;
    });
    return JSON.stringify(parts);
  }
}

export class JsonMap extends MapValue {
  readonly members: Readonly<Record<string, unknown>>;
  readonly valueType: CelType;
  #names: readonly string[] | undefined;

  constructor(members: Readonly<Record<string, unknown>>, valueType: CelType) {
    super();
    this.members = members;
    this.valueType = valueType;
  }

  override get size(): number {
    return (this.#names ??= Object.keys(this.members)).length;
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== "string" || !Object.hasOwn(this.members, key)) return undefined;
    return fromJson(this.members[key], this.valueType);
  }

  override keys(): Iterable<Value> {
    return (this.#names ??= Object.keys(this.members));
  }
}

export class JsonObject extends ObjectValue {
  readonly members: Readonly<Record<string, unknown>>;
  readonly type: StructType;

  constructor(members: Readonly<Record<string, unknown>>, type: StructType) {
    super();
    this.members = members;
    this.type = type;
  }

  override get typeName(): string {
    return this.type.name;
  }

  override field(name: string): Value | undefined {
    const declared = this.type.field(name);
    if (declared === undefined) return new CelError(`no such field '${name}'`);
    const key = declared.jsonName ?? name;
    // A null is no value: has() says false.
    if (!Object.hasOwn(this.members, key) || this.members[key] === null) return undefined;
    return fromJson(this.members[key], declared.type);
  }

  override *fieldNames(): Iterable<string> {
    for (const name of Object.keys(this.members)) yield this.type.celName?.(name) ?? name;
  }
}

function fromText(text: string, type: CelType): Value {
  switch (type.kind) {
    case "timestamp":
      return parseTimestamp(text) ?? parseTimestamp(`${text}T00:00:00Z`) ?? new CelError(`type conversion error from 'string' to 'google.protobuf.Timestamp'`);
    case "duration":
      return parseDuration(text) ?? parseWordyDuration(text) ?? new CelError(`type conversion error from 'string' to 'google.protobuf.Duration'`);
    case "bytes":
      return Buffer.from(text, "base64");
    default:
      return text;
  }
}

function fromNumber(number: number, type: CelType): Value {
  if (type.kind === "double") return new Double(number);
  if (type.kind === "uint") return new Uint(BigInt(number));
  return Number.isSafeInteger(number)
    ? number
    : Number.isInteger(number) && type.kind === "int"
      ? (intOf(BigInt(number)) ?? new Double(number))
      : new Double(number);
}

/** Numbers whose digits were kept: integers beyond 2^53, and `1.0`. */
function fromNumberText(text: string, type: CelType): Value {
  const isWhole = /^-?\d+$/.test(text);
  if (type.kind === "double" || (!isWhole && type.kind !== "int")) return new Double(Number(text));
  if (!isWhole) return fromNumber(Number(text), type);
  return intOf(BigInt(text)) ?? new Double(Number(text));
}
