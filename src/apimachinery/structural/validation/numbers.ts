/** Rules of numbers, with the arithmetic of float64 that Kubernetes uses. */
import { isRawNumber } from "../../json.ts";
import type { JsonValue, RawNumber } from "../../json.ts";

/** The largest number that a float64 counts exactly up to. */
const maxExact = Number.MAX_SAFE_INTEGER;

export function isNumber(value: JsonValue): value is number | RawNumber {
  return typeof value === "number" || isRawNumber(value);
}

export function numberOf(value: number | RawNumber): number {
  return typeof value === "number" ? value : Number(value.rawJSON);
}

/** Integers in the text are integers up to 2^63; fractions of zero and exponents make whole numbers integers only up to 2^53. */
export function isInteger(value: number | RawNumber): boolean {
  if (isRawNumber(value)) return fitsInt64(value.rawJSON);
  return Number.isInteger(value) && Math.abs(value) <= maxExact;
}

function fitsInt64(text: string): boolean {
  if (!/^-?\d+$/.test(text)) return false;
  const value = BigInt(text);
  return value >= -(2n ** 63n) && value < 2n ** 63n;
}

/** Whether a number lies outside what its type and format can hold; `value` may have any size. */
export function isOutOfRange(value: number | RawNumber, type: string, format: string): boolean {
  const number = numberOf(value);
  if (type === "integer") {
    switch (format) {
      case "int32":
        return !Number.isInteger(number) || number < -2_147_483_648 || number > 2_147_483_647;
      case "uint32":
        return !Number.isInteger(number) || number < 0 || number > 4_294_967_295;
      case "uint64":
        return !Number.isInteger(number) || number < 0 || number >= 2 ** 64;
      default:
        return isRawNumber(value) ? !fitsInt64(value.rawJSON) : !Number.isInteger(number) || number < -(2 ** 63) || number >= 2 ** 63;
    }
  }
  return (format === "float" || format === "float32") && Number.isFinite(number) && !Number.isFinite(Math.fround(number));
}

/** Whether `value` is a multiple of `factor`, but for rounding errors. */
export function isMultiple(value: number, factor: number): boolean {
  return isNearlyWhole(factor < 1 ? (1 / factor) * value : value / factor);
}

function isNearlyWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > maxExact) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  const distance = Math.abs(value - whole);
  return value !== 0 && whole !== 0 && distance / (Math.abs(value) + Math.abs(whole)) < 1e-9;
}

/** A number as Go's `%v` prints it: exponents below 1e-4 and from 1e21 on. */
export function goNumber(value: number): string {
  const text = String(value);
  const small = /^(-?)0\.0000(0*)([1-9]\d*)$/.exec(text);
  if (small !== null) {
    const digits = small[3]!;
    return `${small[1]}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e-${String(small[2]!.length + 5).padStart(2, "0")}`;
  }
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}
