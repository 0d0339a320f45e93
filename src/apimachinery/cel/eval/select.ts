/** Selecting fields, keys and items. */
import { formatDouble } from "./format-double.ts";
import { CelError, Double, isInt, ListValue, MapValue, ObjectValue, Optional, Uint } from "./values.ts";
import type { Value } from "./values.ts";

/** `operand[key]`, `operand.key`. Of an optional value, an optional. */
export function select(operand: Value, key: Value): Value {
  if (operand instanceof CelError) return operand;
  if (operand instanceof Optional) {
    const inner = operand.value;
    const isContainer = inner instanceof MapValue || inner instanceof ObjectValue || inner instanceof ListValue;
    return inner === undefined || isContainer ? selectOptional(operand, key) : missing(inner, key);
  }
  const found = find(operand, key);
  return found === undefined ? missing(operand, key) : found;
}

/** `operand.?key`, `operand[?key]`: nothing rather than an error for a key that is not there. */
export function selectOptional(operand: Value, key: Value): Value {
  if (operand instanceof CelError) return operand;
  const inner = operand instanceof Optional ? operand.value : operand;
  if (inner === undefined) return Optional.none;
  const found = find(inner, key);
  if (found instanceof CelError) return found;
  return found === undefined ? Optional.none : new Optional(found);
}

/** `has(operand.key)`. */
export function isPresent(operand: Value, key: string): Value {
  if (operand instanceof CelError) return operand;
  const inner = operand instanceof Optional ? operand.value : operand;
  if (inner === undefined) return false;
  const found = find(inner, key);
  return found instanceof CelError ? found : found !== undefined;
}

function find(operand: Value, key: Value): Value | undefined {
  if (key instanceof CelError) return key;
  if (operand instanceof MapValue) return operand.get(key);
  if (operand instanceof ObjectValue) return typeof key === "string" ? operand.field(key) : undefined;
  if (!(operand instanceof ListValue)) return undefined;
  const index = indexOf(key);
  if (index === undefined)
    return new CelError(key instanceof Double ? `unsupported index value ${key.value} in list` : `unsupported index type '${indexTypeName(key)}' in list`);
  return index >= 0 && index < operand.size ? operand.at(index) : undefined;
}

function indexOf(key: Value): number | undefined {
  if (isInt(key)) return Number(key);
  if (key instanceof Uint) return Number(key.value);
  return key instanceof Double && Number.isInteger(key.value) ? key.value : undefined;
}

function indexTypeName(key: Value): string {
  return typeof key === "string" ? "string" : typeof key === "boolean" ? "bool" : "dyn";
}

function missing(operand: Value, key: Value): CelError {
  if (operand instanceof ListValue) return new CelError(`index out of bounds: ${showKey(key)}`);
  return new CelError(`no such key: ${showKey(key)}`);
}

/** A key as faults show it. */
export function showKey(key: Value): string {
  if (key instanceof Uint) return key.value.toString();
  if (key instanceof Double) return formatDouble(key.value);
  return String(key);
}
