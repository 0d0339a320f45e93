/**
 * Resource quantities (API reference "Quantity"): a decimal number with a suffix of one of three families. A value is
 * `unscaled` · 10^`scale`, exact. `text` is how it is printed: what the client wrote where that is canonical enough, else the canonical
 * form: the largest suffix of the family that leaves no fraction.
 */

export interface Quantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  readonly text: string;
}
export type QuantityFormat = "decimalSI" | "binarySI" | "decimalExponent";
export type QuantityLike = Quantity | string | number;

/** A text that is no quantity; the message is Kubernetes'. */
export class QuantityError extends Error {
  override name = "QuantityError";
}

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";
const wrongNumber = "unable to parse numeric part of quantity";

const decimalSuffixes = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const binarySuffixes = new Map([
  ["Ki", 10],
  ["Mi", 20],
  ["Gi", 30],
  ["Ti", 40],
  ["Pi", 50],
  ["Ei", 60],
]);
const decimalByExponent = new Map([...decimalSuffixes].map(([suffix, exponent]) => [exponent, suffix]));
const binaryByExponent = new Map([...binarySuffixes].map(([suffix, exponent]) => [exponent, suffix]));

const nano = -9;
export const milli = -3;
const maxInt64 = 2n ** 63n - 1n;
/** Beyond this many digits a value is refused instead of computed. */
const maxExponent = 100_000;
const pattern = /^([+-]?)(0*)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;

/** Parses a quantity; throws `QuantityError`. */
export function parseQuantity(text: string): Quantity {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const quantity = parse(text);
  // The same few amounts come again and again: they stand in templates.
  if (recent.size >= recentLimit) recent.clear();
  recent.set(text, quantity);
  return quantity;
}

/** A memory only: quantities do not change. */
const recent = new Map<string, Quantity>();
const recentLimit = 512;

function parse(text: string): Quantity {
  if (text === "0") return { unscaled: 0n, scale: 0, format: "decimalSI", text };
  const match = text === "" ? null : pattern.exec(text);
  if (match === null) throw new QuantityError(wrongFormat);
  const [, sign, zeros, digits, fraction = "", suffix] = match as unknown as [string, string, string, string, string | undefined, string];
  const parts: Parts = { isNegative: sign === "-", number: digits === "" ? "0" : digits, fraction, ...interpretSuffix(suffix) };
  const quantity = short(text, parts);
  if (quantity !== undefined) return quantity;
  // A suffix alone is zero in short form only.
  if (zeros + digits + fraction === "") throw new QuantityError(wrongNumber);
  return long(parts);
}

/** The quantity as Go prints it after reading `text`; throws `QuantityError`. */
export function normalizeQuantity(text: string): string {
  return parseQuantity(text).text;
}

/** The canonical text of a value. */
export function formatQuantity(unscaled: bigint, scale: number, format: QuantityFormat): string {
  if (unscaled === 0n) return "0";
  if (format === "binarySI") {
    const whole = integerPart(unscaled, scale);
    const isSmall = whole !== undefined && whole > -1024n && whole < 1024n;
    if (whole !== undefined && !isSmall) return formatBinary(whole);
    return formatDecimal(unscaled, scale, "decimalSI");
  }
  return formatDecimal(unscaled, scale, format);
}

/** -1, 0 or 1. */
export function compareQuantities(left: QuantityLike, right: QuantityLike): number {
  const [a, b] = aligned(toQuantity(left), toQuantity(right));
  return a < b ? -1 : a > b ? 1 : 0;
}

export function isZeroQuantity(value: QuantityLike): boolean {
  return toQuantity(value).unscaled === 0n;
}

/** The sum, in the left side's format unless that is zero. */
export function addQuantities(left: QuantityLike, right: QuantityLike): Quantity {
  return combine(toQuantity(left), toQuantity(right), 1n);
}

export function subtractQuantities(left: QuantityLike, right: QuantityLike): Quantity {
  return combine(toQuantity(left), toQuantity(right), -1n);
}

/** A quantity made of a number, 10^`scale` each. */
export function quantityOf(amount: number | bigint, format: QuantityFormat, scale = 0): Quantity {
  const unscaled = BigInt(amount);
  return { unscaled, scale, format, text: formatQuantity(unscaled, scale, format) };
}

/** The value in whole units, rounded away from zero. Exact up to 2^53. */
export function quantityValue(value: QuantityLike): number {
  return Number(scaled(toQuantity(value), 0));
}

/** The value in thousandths, rounded away from zero. Exact up to 2^53. */
export function quantityMilli(value: QuantityLike): number {
  return Number(scaled(toQuantity(value), milli));
}

/** Rounded away from zero to a multiple of 10^`scale`; the spelling stays when nothing has to change. */
export function roundUpQuantity(value: QuantityLike, scale: number): Quantity {
  const quantity = toQuantity(value);
  if (quantity.scale >= scale) return quantity;
  const unscaled = scaled(quantity, scale);
  return { unscaled, scale, format: quantity.format, text: formatQuantity(unscaled, scale, quantity.format) };
}

export function toQuantity(value: QuantityLike): Quantity {
  return typeof value === "object" ? value : parseQuantity(String(value).trim());
}

interface Parts {
  readonly isNegative: boolean;
  /** Digits before the point, without leading zeros. */
  readonly number: string;
  readonly fraction: string;
  /** Of 10, or of 2 for the binary family. */
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function interpretSuffix(suffix: string): { exponent: number; format: QuantityFormat } {
  const decimal = decimalSuffixes.get(suffix);
  if (decimal !== undefined) return { exponent: decimal, format: "decimalSI" };
  const binary = binarySuffixes.get(suffix);
  if (binary !== undefined) return { exponent: binary, format: "binarySI" };
  if (!/^[eE][+-]?\d+$/.test(suffix)) throw new QuantityError(wrongSuffix);
  const exponent = BigInt.asIntN(32, BigInt(suffix.slice(1).replace("+", "")));
  return { exponent: Number(exponent), format: "decimalExponent" };
}

/**
 * Values that fit 64 bits with digits to spare keep the client's spelling, unless a larger suffix would be shorter. Undefined for others.
 * (Which spellings survive was found by asking the real implementation.)
 */
function short(text: string, { isNegative, number, fraction, exponent, format }: Parts): Quantity | undefined {
  const isBinary = format === "binarySI";
  if (isBinary && fraction !== "") return undefined;
  const spareDigits = isBinary ? 15 - number.length - Math.trunc((exponent * 3) / 10) - 1 : 18 - number.length - fraction.length;
  const scale = isBinary ? 0 : exponent - fraction.length;
  if (spareDigits < 0 || scale < nano) return undefined;
  const digits = number + fraction;
  const amount = BigInt(digits);
  const magnitude = isBinary ? amount << BigInt(exponent) : amount;
  const unscaled = isNegative ? -magnitude : magnitude;
  const isKept = isBinary ? amount % 8n !== 0n : scale % 3 === 0 && !digits.startsWith("0") && !digits.endsWith("000");
  return { unscaled, scale, format, text: isKept ? text : formatQuantity(unscaled, scale, format) };
}

/** Everything else is rounded up to a multiple of 10^-9; binary values are capped at 2^63 - 1. */
function long({ isNegative, number, fraction, exponent, format }: Parts): Quantity {
  if (Math.abs(exponent) > maxExponent) throw new QuantityError(wrongNumber);
  let magnitude = BigInt(number + fraction);
  let scale = -fraction.length;
  if (format === "binarySI") magnitude <<= BigInt(exponent);
  else scale += exponent;
  if (scale < nano) {
    magnitude = divideUp(magnitude, 10n ** BigInt(nano - scale));
    scale = nano;
  }
  let shown = format;
  if (format === "binarySI") {
    const one = 10n ** BigInt(-scale);
    if (magnitude > maxInt64 * one) [magnitude, scale] = [maxInt64, 0];
    else if (magnitude > 0n && magnitude < one) shown = "decimalSI";
  }
  const unscaled = isNegative ? -magnitude : magnitude;
  return { unscaled, scale, format: shown, text: formatQuantity(unscaled, scale, shown) };
}

function formatDecimal(unscaled: bigint, scale: number, format: "decimalSI" | "decimalExponent"): string {
  const digits = unscaled.toString();
  const zeros = digits.length - digits.replace(/0+$/, "").length;
  const exponent = Math.floor((scale + zeros) / 3) * 3;
  const mantissa = exponent >= scale ? digits.slice(0, digits.length - (exponent - scale)) : digits + "0".repeat(scale - exponent);
  if (format === "decimalExponent") return exponent === 0 ? mantissa : `${mantissa}e${exponent}`;
  return mantissa + (decimalByExponent.get(exponent) ?? "");
}

function formatBinary(whole: bigint): string {
  let mantissa = whole;
  let exponent = 0;
  while (mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    exponent += 10;
  }
  return mantissa.toString() + (binaryByExponent.get(exponent) ?? "");
}

/** The value as an integer, or undefined when it has a fraction. */
function integerPart(unscaled: bigint, scale: number): bigint | undefined {
  if (scale >= 0) return unscaled * 10n ** BigInt(scale);
  const unit = 10n ** BigInt(-scale);
  return unscaled % unit === 0n ? unscaled / unit : undefined;
}

function scaled(quantity: Quantity, scale: number): bigint {
  if (quantity.scale >= scale) return quantity.unscaled * 10n ** BigInt(Math.min(quantity.scale - scale, maxExponent));
  const unit = 10n ** BigInt(scale - quantity.scale);
  return quantity.unscaled < 0n ? -divideUp(-quantity.unscaled, unit) : divideUp(quantity.unscaled, unit);
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function aligned(a: Quantity, b: Quantity): [bigint, bigint] {
  const scale = Math.min(a.scale, b.scale);
  return [scaled(a, scale), scaled(b, scale)];
}

function combine(left: Quantity, right: Quantity, sign: bigint): Quantity {
  const scale = Math.min(left.scale, right.scale);
  const [a, b] = aligned(left, right);
  const unscaled = a + sign * b;
  const format = left.unscaled === 0n ? right.format : left.format;
  return { unscaled, scale, format, text: formatQuantity(unscaled, scale, format) };
}
