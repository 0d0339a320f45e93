/**
 * `'%s of %d'.format([a, b])` as version 2 of cel-go's extension writes it: `%f` groups thousands, `%e` writes a power of ten and takes its
 * precision for a width.
 */
import type { Checked } from "../check/checker.ts";
import { runtimeTypeName } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import { compareTexts } from "../eval/compare.ts";
import { toText } from "../eval/conversions.ts";
import { formatDuration } from "../eval/durations.ts";
import { formatTimestamp } from "../eval/timestamps.ts";
import { CelError, Double, Duration, isCelError, isInt, ListValue, MapValue, Timestamp, typeNameOf, TypeValue, Uint } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import type { CallExpr, Expr } from "../syntax/ast.ts";
import { quote } from "./strings.ts";

type Verb = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";
type Piece = string | { readonly verb: Verb; readonly precision: number | undefined };

export function formatText(format: string, args: ListValue): Value {
  let text = "";
  let used = 0;
  for (const piece of pieces(format)) {
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    if (used >= args.size) return new CelError(`index ${used} out of range`);
    if (piece instanceof CelError) return piece;
    const shown = verbs[piece.verb].show(args.at(used++), piece.precision, piece.verb);
    if (isCelError(shown)) return new CelError(`error during formatting: ${shown.message}`);
    text += shown;
  }
  return text;
}

/** The fault of a call whose format and arguments are written down; the place is an argument's or the call's. */
export function checkFormat(
  format: string,
  args: readonly Expr[],
  checked: Checked,
  call: CallExpr,
): { readonly at: number; readonly message: string } | undefined {
  let used = 0;
  for (const piece of pieces(format)) {
    if (typeof piece === "string") continue;
    if (piece === endOfFormat) return { at: call.at, message: piece.message };
    if (used >= args.length) return { at: call.at, message: `index ${used} out of range` };
    if (piece instanceof CelError) return { at: call.at, message: piece.message };
    const unfit = unfitArgument(piece.verb, args[used++]!, checked);
    if (unfit !== undefined) return { at: unfit.at, message: `error during formatting: ${verbs[piece.verb].demand}, was given ${unfit.type}` };
  }
  return used < args.length ? { at: call.at, message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})` } : undefined;
}

const maxInt = 2n ** 63n - 1n;
/** More digits than this tell nothing. */
const maxPrecision = 1000;
const endOfFormat = new CelError("unexpected end of string");

function* pieces(format: string): Generator<Piece | CelError> {
  let end = 0;
  for (let at = format.indexOf("%"); at >= 0; at = format.indexOf("%", end)) {
    yield format.slice(end, at);
    if (format[at + 1] === "%") {
      yield "%";
      end = at + 2;
      continue;
    }
    if (at + 1 >= format.length) return yield endOfFormat;
    const [, dot, digits] = /^(\.?)(\d*)/.exec(format.slice(at + 1)) as unknown as [string, string, string];
    if (dot === "." && digits === "")
      return yield new CelError(
        `could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`,
      );
    if (BigInt(digits === "" ? 0 : digits) > maxInt)
      return yield new CelError(
        `could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "${digits}": value out of range`,
      );
    end = at + 1 + (dot === "." ? 1 + digits.length : 0);
    const verb = String.fromCodePoint(format.codePointAt(end) ?? 0);
    if (!(verb in verbs)) return yield new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
    yield { verb: verb as Verb, precision: dot === "." ? Math.min(Number(digits), maxPrecision) : undefined };
    end += 1;
  }
  yield format.slice(end);
}

interface VerbRule {
  readonly demand: string;
  readonly takes: ReadonlySet<string>;
  readonly show: (value: Value, precision: number | undefined, verb: Verb) => string | CelError;
}

const integers = ["int", "uint"];
const stringDemand = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";
const everything = [
  ...integers,
  "string",
  "bool",
  "bytes",
  "double",
  "map",
  "list",
  "type",
  "null_type",
  "google.protobuf.Duration",
  "google.protobuf.Timestamp",
];
const hexDemand = "only integers, byte buffers, and strings can be formatted as hex";

const verbs: Readonly<Record<Verb, VerbRule>> = {
  s: { demand: stringDemand, takes: new Set(everything), show: (value) => showAny(value, false) },
  d: rule("decimal clause can only be used on integers", integers, (value) => wholeOf(value).toString()),
  f: rule("fixed-point clause can only be used on doubles", ["double", "string"], showFixed),
  e: rule("scientific clause can only be used on doubles", ["double", "string"], showScientific),
  b: rule("only integers and bools can be formatted as binary", [...integers, "bool"], (value) =>
    typeof value === "boolean" ? (value ? "1" : "0") : wholeOf(value).toString(2),
  ),
  x: rule(hexDemand, [...integers, "string", "bytes"], showHex),
  X: rule(hexDemand, [...integers, "string", "bytes"], (value) => showHex(value).toUpperCase()),
  o: rule("octal clause can only be used on integers", integers, (value) => wholeOf(value).toString(8)),
};

function rule(demand: string, takes: readonly string[], show: (value: Value, precision: number | undefined) => string | CelError): VerbRule {
  const accepted = new Set(takes);
  return {
    demand,
    takes: accepted,
    show: (value, precision) => (accepted.has(typeNameOf(value)) ? show(value, precision) : new CelError(`${demand}, was given ${typeNameOf(value)}`)),
  };
}

/** By the type that the checker found; of literal lists and maps every item. */
function unfitArgument(verb: Verb, arg: Expr, checked: Checked): { at: number; type: string } | undefined {
  const type: CelType = checked.types.get(arg) ?? { kind: "dyn" };
  if (type.kind === "dyn" || type.kind === "parameter") return undefined;
  const name = runtimeTypeName(type).replace(/\(.*$/s, "");
  if (!verbs[verb].takes.has(name)) return { at: arg.at, type: name };
  const items = arg.kind === "list" ? arg.elements : arg.kind === "map" ? arg.entries.flatMap((entry) => [entry.key, entry.value]) : [];
  for (const each of items) {
    const unfit = unfitArgument(verb, each, checked);
    if (unfit !== undefined) return unfit;
  }
  return undefined;
}

function wholeOf(value: Value): number | bigint {
  return value instanceof Uint ? value.value : (value as number | bigint);
}

/** Inside lists and maps texts are quoted and doubles written to six digits. */
function showAny(value: Value, isInside: boolean): string | CelError {
  if (value instanceof ListValue)
    return showAll(
      [...value].map((each) => showAny(each, true)),
      (parts) => `[${parts.join(", ")}]`,
    );
  if (value instanceof MapValue) return showMap(value);
  if (value === null) return "null";
  if (value instanceof TypeValue) return value.name;
  const text = toText(value);
  if (typeof text !== "string") {
    const isBytes = value instanceof Uint8Array;
    return new CelError(
      isBytes ? `could not convert argument ${JSON.stringify((text as CelError).message)} to string` : `${stringDemand}, was given ${typeNameOf(value)}`,
    );
  }
  if (!isInside) return text;
  if (typeof value === "string") return quote(text);
  if (value instanceof Uint8Array) return `b${quote(text)}`;
  if (value instanceof Timestamp) return `timestamp(${quote(formatTimestamp(value))})`;
  if (value instanceof Duration) return `duration(${quote(formatDuration(value))})`;
  if (value instanceof Double) return Number.isFinite(value.value) ? fixed(value.value, 6) : quote(text);
  return text;
}

function showMap(map: MapValue): string | CelError {
  const entries: [string, string][] = [];
  for (const key of map.keys()) {
    if (!isInt(key) && !(key instanceof Uint) && typeof key !== "string" && typeof key !== "boolean")
      return new CelError(`no formatting function for map key of type ${typeNameOf(key)}`);
    const [shownKey, shownValue] = [showAny(key, true), showAny(map.get(key)!, true)];
    if (isCelError(shownKey)) return shownKey;
    if (isCelError(shownValue)) return shownValue;
    entries.push([shownKey, shownValue]);
  }
  entries.sort(([left], [right]) => compareTexts(left, right));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

function showAll(parts: ReadonlyArray<string | CelError>, join: (parts: readonly string[]) => string): string | CelError {
  return parts.find(isCelError) ?? join(parts as readonly string[]);
}

function showHex(value: Value): string {
  if (typeof value === "string" || value instanceof Uint8Array) return Buffer.from(value as string).toString("hex");
  return wholeOf(value).toString(16);
}

const namedDoubles: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity: Infinity, "-Infinity": -Infinity };

function doubleOf(value: Value, clause: string): number | CelError {
  if (value instanceof Double) return value.value;
  const named = namedDoubles[value as string];
  return named ?? new CelError(`${clause} clause can only be used on doubles, was given string`);
}

function showFixed(value: Value, precision = 6): string | CelError {
  const number = doubleOf(value, "fixed-point");
  if (typeof number !== "number") return number;
  if (!Number.isFinite(number)) return infinite(number);
  const [whole, fraction] = fixed(number, precision).split(".") as [string, string | undefined];
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction === undefined ? "" : `.${fraction}`);
}

/** A double with a given number of decimals, exact however large, ties to even. */
function fixed(number: number, decimals: number): string {
  const [mantissa, exponent] = exactFraction(Math.abs(number));
  const scaled = mantissa * 10n ** BigInt(decimals);
  const divisor = 1n << BigInt(-Math.min(exponent, 0));
  const shifted = scaled << BigInt(Math.max(exponent, 0));
  let quotient = shifted / divisor;
  const twice = (shifted % divisor) * 2n;
  if (twice > divisor || (twice === divisor && quotient % 2n === 1n)) quotient += 1n;
  const digits = quotient.toString().padStart(decimals + 1, "0");
  const sign = number < 0 || Object.is(number, -0) ? "-" : "";
  return sign + digits.slice(0, digits.length - decimals) + (decimals === 0 ? "" : `.${digits.slice(digits.length - decimals)}`);
}

/** A double as mantissa · 2^exponent. */
function exactFraction(number: number): [bigint, number] {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, number);
  const raw = bits.getBigUint64(0);
  const exponent = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  return exponent === 0 ? [fraction, -1074] : [fraction | (1n << 52n), exponent - 1075];
}

const superscripts: Readonly<Record<string, string>> = {
  "-": "⁻",
  "0": "⁰",
  "1": "¹",
  "2": "²",
  "3": "³",
  "4": "⁴",
  "5": "⁵",
  "6": "⁶",
  "7": "⁷",
  "8": "⁸",
  "9": "⁹",
};

function showScientific(value: Value, width = 6): string | CelError {
  const number = doubleOf(value, "scientific");
  if (typeof number !== "number") return number;
  if (!Number.isFinite(number)) return infinite(number).padStart(width);
  const [mantissa, exponent] = number.toExponential(6).split("e") as [string, string];
  const power = exponent.replace("+", "").replace(/^(-?)(\d)$/, "$10$2");
  const sign = Object.is(number, -0) ? "-" : "";
  return `${sign}${mantissa}×10${[...power].map((digit) => superscripts[digit]!).join("")}`.padStart(width);
}

function infinite(number: number): string {
  return Number.isNaN(number) ? "NaN" : number > 0 ? "∞" : "-∞";
}
