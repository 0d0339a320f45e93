/** `int(x)`, `string(x)` and their like. Each takes only what its overloads declare. */
import { formatDouble } from "./format-double.ts";
import { formatDuration, parseDuration } from "./durations.ts";
import { formatTimestamp, isInRange, parseTimestamp, timestampOverflow } from "./timestamps.ts";
import { CelError, Double, Duration, intOf, isInt, normalizeInt, noSuchOverload, Timestamp, TypeValue, typeNameOf, Uint } from "./values.ts";
import type { Value } from "./values.ts";

const integerOverflow = new CelError("integer overflow");
const unsignedOverflow = new CelError("unsigned integer overflow");

function conversionError(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

export function toInt(value: Value): Value {
  if (isInt(value)) return value;
  if (value instanceof Uint) return intOf(value.value) ?? integerOverflow;
  if (value instanceof Timestamp) return value.seconds;
  if (value instanceof Duration) return normalizeInt(value.nanos);
  if (value instanceof Double) {
    // The nearest doubles outside are those that cannot be told from the bounds.
    const isInside = value.value > -(2 ** 63) && value.value < 2 ** 63;
    return isInside ? normalizeInt(BigInt(Math.trunc(value.value))) : integerOverflow;
  }
  if (typeof value !== "string") return noSuchOverload;
  const parsed = /^[+-]?\d+$/.test(value) ? intOf(BigInt(value.replace(/^\+/, ""))) : undefined;
  return parsed ?? conversionError("string", "int");
}

export function toUint(value: Value): Value {
  if (value instanceof Uint) return value;
  if (isInt(value)) return value < 0 ? unsignedOverflow : new Uint(BigInt(value));
  if (value instanceof Double) return value.value >= 0 && value.value < 2 ** 64 ? new Uint(BigInt(Math.trunc(value.value))) : unsignedOverflow;
  if (typeof value !== "string") return noSuchOverload;
  const parsed = /^\d+$/.test(value) ? BigInt(value) : undefined;
  return parsed !== undefined && parsed < 2n ** 64n ? new Uint(parsed) : conversionError("string", "uint");
}

export function toDouble(value: Value): Value {
  if (value instanceof Double) return value;
  if (isInt(value)) return new Double(Number(value));
  if (value instanceof Uint) return new Double(Number(value.value));
  if (typeof value !== "string") return noSuchOverload;
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(value);
  if (special !== null) return new Double(special[2]!.toLowerCase() === "nan" ? Number.NaN : special[1] === "-" ? -Infinity : Infinity);
  const digits = value.replace(/(?<=\d)_(?=\d)/g, "");
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(digits);
  const parsed = Number(digits);
  return isNumber && Number.isFinite(parsed) ? new Double(parsed) : conversionError("string", "double");
}

export function toBool(value: Value): Value {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return noSuchOverload;
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : conversionError("string", "bool");
}

export function toText(value: Value): Value {
  if (typeof value === "string") return value;
  if (isInt(value) || typeof value === "boolean") return value.toString();
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Double) return formatDouble(value.value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (!(value instanceof Uint8Array)) return noSuchOverload;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

export function toBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value;
  return typeof value === "string" ? new TextEncoder().encode(value) : noSuchOverload;
}

export function toTimestamp(value: Value): Value {
  if (value instanceof Timestamp) return value;
  if (isInt(value)) return isInRange(Number(value)) ? new Timestamp(Number(value), 0) : timestampOverflow;
  if (typeof value !== "string") return noSuchOverload;
  return parseTimestamp(value) ?? conversionError("string", "google.protobuf.Timestamp");
}

export function toDuration(value: Value): Value {
  if (value instanceof Duration) return value;
  if (isInt(value)) return new Duration(BigInt(value));
  if (typeof value !== "string") return noSuchOverload;
  return parseDuration(value) ?? conversionError("string", "google.protobuf.Duration");
}

export function toType(value: Value): Value {
  return new TypeValue(typeNameOf(value));
}
