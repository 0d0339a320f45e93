/**
 * Values of expressions. Integers are numbers where those are exact and bigints beyond; doubles and unsigned integers are boxed, so that every
 * value tells its type. Errors are values, too: `||` and `&&` may make up for them.
 */
import type { CelType } from "../check/types.ts";

export type Value =
  | null
  | boolean
  | Int
  | Uint
  | Double
  | string
  | Uint8Array
  | ListValue
  | MapValue
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | ObjectValue
  | OpaqueValue
  | CelError;

/** Always a number within ±2^53, and never beyond 64 bits. */
export type Int = number | bigint;

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Double {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** Seconds since 1970 and nanoseconds in [0, 10^9). It is shown with the offset that it was written with. */
export class Timestamp {
  readonly seconds: number;
  readonly nanos: number;
  readonly offsetSeconds: number;
  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }
}

export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class TypeValue {
  /** As `type(x)` prints: `int`, `google.protobuf.Timestamp`. */
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  static readonly none = new Optional(undefined);
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export class CelError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export abstract class ListValue {
  abstract readonly size: number;
  /** `index` is within the list. */
  abstract at(index: number): Value;

  /** Equal lists have equal items in the same order, but for lists that are sets. */
  equals(other: ListValue, isEqual: (left: Value, right: Value) => boolean): boolean {
    const { size } = this;
    if (size !== other.size) return false;
    for (let index = 0; index < size; index++) if (!isEqual(this.at(index), other.at(index))) return false;
    return true;
  }

  plus(other: ListValue, _isEqual: (left: Value, right: Value) => boolean): ListValue {
    return new ArrayList([...this, ...other]);
  }

  *[Symbol.iterator](): Iterator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }
}

export class ArrayList extends ListValue {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
  override get size(): number {
    return this.items.length;
  }
  override at(index: number): Value {
    return this.items[index]!;
  }
}

/** A list that a fold builds: `+` adds to it in place, which nobody else can see. */
export class GrowingList extends ListValue {
  readonly items: Value[] = [];
  override get size(): number {
    return this.items.length;
  }
  override at(index: number): Value {
    return this.items[index]!;
  }
  override plus(other: ListValue): ListValue {
    for (const item of other) this.items.push(item);
    return this;
  }
}

export abstract class MapValue {
  abstract readonly size: number;
  /** Undefined when there is no such key. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
}

/** Keys of one number are one key, whatever its type; JavaScript's Map tells texts, numbers and booleans apart. */
export class HashMap extends MapValue {
  readonly entries: ReadonlyMap<unknown, MapItem>;
  constructor(entries: ReadonlyMap<unknown, MapItem>) {
    super();
    this.entries = entries;
  }
  override get size(): number {
    return this.entries.size;
  }
  override get(key: Value): Value | undefined {
    return this.entries.get(hashOf(key))?.[1];
  }
  override *keys(): Iterable<Value> {
    for (const [key] of this.entries.values()) yield key;
  }
}

export type MapItem = readonly [key: Value, value: Value];

/** A map that a fold builds by adding to it in place. */
export class GrowingMap extends HashMap {
  readonly growing: Map<unknown, MapItem>;
  constructor() {
    const growing = new Map<unknown, MapItem>();
    super(growing);
    this.growing = growing;
  }
}

export function mapOf(items: Iterable<MapItem>): HashMap {
  const entries = new Map<unknown, MapItem>();
  for (const item of items) entries.set(hashOf(item[0]), item);
  return new HashMap(entries);
}

/** What JavaScript's Map takes two equal keys for the same by. */
export function hashOf(value: Value): unknown {
  if (value instanceof Uint) return normalizeInt(value.value);
  if (!(value instanceof Double)) return value;
  return Number.isInteger(value.value) && !Number.isSafeInteger(value.value) ? BigInt(value.value) : value.value;
}

/** A value with fields: an object literal, or JSON under a declared type. */
export abstract class ObjectValue {
  abstract readonly typeName: string;
  /** Undefined when the field is not set; an error when the type has no such field. */
  abstract field(name: string): Value | undefined;
  abstract fieldNames(): Iterable<string>;
}

/** A value of a library's own type. */
export abstract class OpaqueValue {
  abstract readonly typeName: string;
  abstract equals(other: OpaqueValue): boolean;
  /** As `size()` and costs see it; undefined when it has none. */
  get size(): number | undefined {
    return undefined;
  }
}

export function isCelError(value: unknown): value is CelError {
  return value instanceof CelError;
}

export const noSuchOverload = new CelError("no such overload");

/** The fault of an operator on something it is not made for. */
export function noSuchOperator(name: string, operand: Value): CelError {
  const hasMethods = typeof operand === "string" || operand instanceof Timestamp || operand instanceof Duration;
  return hasMethods ? noSuchOverload : new CelError(`no such overload: ${name}`);
}

const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** A bigint within 64 bits as an integer value. */
export function normalizeInt(value: bigint): Int {
  return value <= 9_007_199_254_740_991n && value >= -9_007_199_254_740_991n ? Number(value) : value;
}

/** An integer value, or undefined beyond 64 bits. */
export function intOf(value: bigint): Int | undefined {
  return value < minInt64 || value > maxInt64 ? undefined : normalizeInt(value);
}

export function isInt(value: Value): value is Int {
  return typeof value === "number" || typeof value === "bigint";
}

/** Name of a value's type as `type()` gives it. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
    case "bigint":
      return "int";
    case "boolean":
      return "bool";
  }
  if (value === null) return "null_type";
  if (value instanceof Double) return "double";
  if (value instanceof Uint) return "uint";
  if (value instanceof ListValue) return "list";
  if (value instanceof MapValue) return "map";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof TypeValue) return "type";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof CelError) return "*error*";
  return value.typeName;
}

const kindNames: Partial<Record<CelType["kind"], string>> = { null: "null_type", timestamp: "google.protobuf.Timestamp", duration: "google.protobuf.Duration" };

/** Whether a value may go where a type is declared. Of lists and maps only the first item is looked at. */
export function isOfType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case "dyn":
    case "parameter":
      return true;
    case "list": {
      if (!(value instanceof ListValue)) return false;
      return value.size === 0 || isOfType(value.at(0), type.parameters[0]!);
    }
    case "map": {
      if (!(value instanceof MapValue)) return false;
      for (const key of value.keys()) return isOfType(key, type.parameters[0]!) && isOfType(value.get(key)!, type.parameters[1]!);
      return true;
    }
    case "struct":
    case "opaque":
      return typeNameOf(value) === type.name;
    default:
      return typeNameOf(value) === (kindNames[type.kind] ?? type.kind);
  }
}
