/** Values of scalar fields: what Go's decoders accept, and the form in which Go prints them again. */
import { QuantityError, parseQuantity } from "../quantity.ts";
import { TimeError, formatInstant, parseInstant, zeroSeconds } from "../time.ts";
import type { TimeLayout } from "../time.ts";
import type { ScalarKind } from "../schema.ts";
import { DecodeError } from "./decode-error.ts";

const ranges: Partial<Record<ScalarKind, readonly [min: bigint, max: bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 2n ** 8n - 1n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

export function isIntegerKind(kind: ScalarKind): boolean {
  return ranges[kind] !== undefined;
}

/** Whether a number's text fits an integer type, as strconv reads it: digits only. */
export function fitsInteger(kind: ScalarKind, text: string): boolean {
  const range = ranges[kind];
  if (range === undefined || !/^-?\d+$/.test(text)) return false;
  const value = BigInt(text);
  return value >= range[0] && value <= range[1];
}

/** Most quantities are one to three digits with a common suffix: those are canonical as they stand. */
const plainQuantity = /^[1-9]\d{0,2}(?:m|Ki|Mi|Gi|Ti)?$/;

/** A quantity as Go prints it after reading `text`; throws a `DecodeError`. */
export function quantityText(text: string): string {
  if (plainQuantity.test(text)) return text;
  try {
    return parseQuantity(text.trim()).text;
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError("value", error.message, error);
    throw error;
  }
}

const plainTime = /^[12]\d\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** A time as Go prints it after reading `text`; null for Go's zero time; throws a `DecodeError`. */
export function timeText(text: string, layout: TimeLayout): string | null {
  if (layout === "time" && plainTime.test(text)) return text;
  try {
    const instant = parseInstant(text, layout);
    return instant.seconds === zeroSeconds && instant.nanos === 0 ? null : formatInstant(instant, layout);
  } catch (error) {
    if (error instanceof TimeError) throw new DecodeError("value", error.message, error);
    throw error;
  }
}

const plainBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Base64 as Go prints it after reading `text`; a fault is returned as `error`. */
export function base64Text(text: string): { readonly text: string } | { readonly error: string } {
  if (text.length % 4 === 0 && plainBase64.test(text)) return { text: hasStrayBits(text) ? reencode(text) : text };
  const offset = corruptOffset(Buffer.from(text));
  return offset === undefined ? { text: reencode(text) } : { error: `illegal base64 data at input byte ${offset}` };
}

function reencode(text: string): string {
  return Buffer.from(text, "base64").toString("base64");
}

/** Whether the last letter before the padding has bits that do not belong to any byte. */
function hasStrayBits(text: string): boolean {
  return text.endsWith("=") && reencode(text) !== text;
}

/** Where Go's base64 reader stops with an error; line breaks are skipped. Undefined when it does not. */
function corruptOffset(bytes: Uint8Array): number | undefined {
  let inGroup = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (isLineBreak(byte)) continue;
    if (byte === 0x3d) return paddingFault(bytes, index, inGroup);
    if (!isBase64Byte(byte)) return index;
    inGroup = (inGroup + 1) % 4;
  }
  return inGroup === 0 ? undefined : bytes.length - inGroup;
}

function paddingFault(bytes: Uint8Array, position: number, inGroup: number): number | undefined {
  if (inGroup < 2) return position;
  let next = skipLineBreaks(bytes, position + 1);
  if (inGroup === 2) {
    if (next === bytes.length) return bytes.length;
    if (bytes[next] !== 0x3d) return next - 1;
    next = skipLineBreaks(bytes, next + 1);
  }
  return next < bytes.length ? next : undefined;
}

function skipLineBreaks(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length && isLineBreak(bytes[index]!)) index++;
  return index;
}

function isLineBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}

function isBase64Byte(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2f;
}
