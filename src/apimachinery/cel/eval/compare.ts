/** Equality and order of values. Numbers of different types compare by what they are worth. */
import { Double, Duration, isInt, ListValue, MapValue, noSuchOverload, ObjectValue, OpaqueValue, Optional, Timestamp, TypeValue, Uint } from "./values.ts";
import type { CelError, Value } from "./values.ts";

export function isEqual(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || left === null || typeof right !== "object" || right === null)
    return isNumeric(left) && isNumeric(right) && compareNumbers(left, right) === 0;
  if (isNumeric(left)) return isNumeric(right) && compareNumbers(left, right) === 0;
  if (left instanceof ListValue) return right instanceof ListValue && left.equals(right, isEqual);
  if (left instanceof MapValue) return right instanceof MapValue && isEqualMap(left, right);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right) === 0;
  if (left instanceof Timestamp) return right instanceof Timestamp && left.seconds === right.seconds && left.nanos === right.nanos;
  if (left instanceof Duration) return right instanceof Duration && left.nanos === right.nanos;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof Optional) return right instanceof Optional && isEqualOptional(left, right);
  if (left instanceof ObjectValue) return right instanceof ObjectValue && isEqualObject(left, right);
  return left instanceof OpaqueValue && right instanceof OpaqueValue && left.typeName === right.typeName && left.equals(right);
}

/** -1, 0 or 1; NaN when numbers cannot be ordered; an error for types without an order. */
export function compare(left: Value, right: Value): number | CelError {
  if (typeof left === "number" && typeof right === "number") return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  if (isNumeric(left) && isNumeric(right)) return compareNumbers(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  if (left instanceof Timestamp && right instanceof Timestamp) return Math.sign(left.seconds - right.seconds || left.nanos - right.nanos);
  if (left instanceof Duration && right instanceof Duration) return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;
  return noSuchOverload;
}

export function isNumeric(value: Value): value is number | bigint | Uint | Double {
  return isInt(value) || value instanceof Double || value instanceof Uint;
}

/** By code points, as UTF-8 orders. */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (a === b) continue;
    // Surrogates stand for characters beyond those that follow them in UTF-16.
    const isHigherLeft = (a >= 0xd800 && a < 0xe000) !== (b >= 0xd800 && b < 0xe000) ? a >= 0xd800 && a < 0xe000 : a > b;
    return isHigherLeft ? 1 : -1;
  }
  return Math.sign(left.length - right.length);
}

function compareNumbers(left: number | bigint | Uint | Double, right: number | bigint | Uint | Double): number {
  const a = left instanceof Double || left instanceof Uint ? left.value : left;
  const b = right instanceof Double || right instanceof Uint ? right.value : right;
  // Whole numbers next to doubles compare as doubles, however large.
  if (left instanceof Double !== right instanceof Double) return compareDoubles(Number(a), Number(b));
  return left instanceof Double ? compareDoubles(a as number, b as number) : a < b ? -1 : a > b ? 1 : 0;
}

function compareDoubles(left: number, right: number): number {
  return left < right ? -1 : left > right ? 1 : left === right ? 0 : Number.NaN;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}

function isEqualMap(left: MapValue, right: MapValue): boolean {
  if (left.size !== right.size) return false;
  for (const key of left.keys()) {
    const other = right.get(key);
    if (other === undefined || !isEqual(left.get(key)!, other)) return false;
  }
  return true;
}

function isEqualOptional(left: Optional, right: Optional): boolean {
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return isEqual(left.value, right.value);
}

function isEqualObject(left: ObjectValue, right: ObjectValue): boolean {
  if (left.typeName !== right.typeName) return false;
  const names = new Set([...left.fieldNames(), ...right.fieldNames()]);
  for (const name of names) {
    const [a, b] = [left.field(name), right.field(name)];
    if (a === undefined || b === undefined || !isEqual(a, b)) return false;
  }
  return true;
}
