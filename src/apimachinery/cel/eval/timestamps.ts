/** Instants: reading and writing RFC 3339, calendar fields in any time zone, arithmetic. Years 1 to 9999. */
import { parseInstant } from "../../time.ts";
import { secondNanos } from "./durations.ts";
import { CelError, Duration, Timestamp } from "./values.ts";

export const minSeconds = -62_135_596_800;
export const maxSeconds = 253_402_300_799;

/** Undefined for what is no RFC 3339 time. */
export function parseTimestamp(text: string): Timestamp | undefined {
  try {
    const { seconds, nanos } = parseInstant(text, "time");
    return isInRange(seconds) ? new Timestamp(seconds, nanos, offsetOf(text)) : undefined;
  } catch {
    return undefined;
  }
}

export function isInRange(seconds: number): boolean {
  return seconds >= minSeconds && seconds <= maxSeconds;
}

function offsetOf(text: string): number {
  const match = /([+-])(\d\d):(\d\d)$/.exec(text);
  return match === null ? 0 : (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 3600 + Number(match[3]) * 60);
}

/** RFC 3339 with as many decimals as needed. */
export function formatTimestamp({ seconds, nanos, offsetSeconds }: Timestamp): string {
  const text = new Date((seconds + offsetSeconds) * 1000)
    .toISOString()
    .slice(0, 19)
    .replace(/^\+0*(?=\d{4}-)/, "");
  const fraction = nanos.toString().padStart(9, "0").replace(/0+$/, "");
  return `${text}${fraction === "" ? "" : `.${fraction}`}${offsetText(offsetSeconds)}`;
}

function offsetText(offsetSeconds: number): string {
  if (offsetSeconds === 0) return "Z";
  const minutes = Math.abs(offsetSeconds) / 60;
  const digits = (value: number) => Math.floor(value).toString().padStart(2, "0");
  return `${offsetSeconds < 0 ? "-" : "+"}${digits(minutes / 60)}:${digits(minutes % 60)}`;
}

export const timestampOverflow = new CelError("timestamp overflow");

export function addDuration(timestamp: Timestamp, nanos: bigint): Timestamp | CelError {
  const total = totalNanos(timestamp) + nanos;
  const seconds = Number(total >= 0n ? total / secondNanos : (total - secondNanos + 1n) / secondNanos);
  return isInRange(seconds) ? new Timestamp(seconds, Number(total - BigInt(seconds) * secondNanos), timestamp.offsetSeconds) : timestampOverflow;
}

export function difference(left: Timestamp, right: Timestamp): Duration | CelError {
  const nanos = totalNanos(left) - totalNanos(right);
  return BigInt.asIntN(64, nanos) === nanos ? new Duration(nanos) : new CelError("integer overflow");
}

function totalNanos({ seconds, nanos }: Timestamp): bigint {
  return BigInt(seconds) * secondNanos + BigInt(nanos);
}

export type TimeField =
  | "getFullYear"
  | "getMonth"
  | "getDayOfYear"
  | "getDayOfMonth"
  | "getDate"
  | "getDayOfWeek"
  | "getHours"
  | "getMinutes"
  | "getSeconds"
  | "getMilliseconds";

/** A calendar field; months, days of month (but for `getDate`) and days of week count from 0. */
export function timeField(timestamp: Timestamp, field: TimeField, zone?: string): number | CelError {
  const offset = zone === undefined ? 0 : zoneOffsetSeconds(timestamp.seconds, zone);
  if (offset instanceof CelError) return offset;
  const local = new Date((timestamp.seconds + offset) * 1000);
  switch (field) {
    case "getFullYear":
      return local.getUTCFullYear();
    case "getMonth":
      return local.getUTCMonth();
    case "getDayOfYear":
      return (
        Math.round((Date.UTC(2000, local.getUTCMonth(), local.getUTCDate()) - Date.UTC(2000, 0, 1)) / 86_400_000) -
        (local.getUTCMonth() > 1 && !isLeapYear(local.getUTCFullYear()) ? 1 : 0)
      );
    case "getDayOfMonth":
      return local.getUTCDate() - 1;
    case "getDate":
      return local.getUTCDate();
    case "getDayOfWeek":
      return local.getUTCDay();
    case "getHours":
      return local.getUTCHours();
    case "getMinutes":
      return local.getUTCMinutes();
    case "getSeconds":
      return local.getUTCSeconds();
    case "getMilliseconds":
      return Math.floor(timestamp.nanos / 1e6);
  }
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** `+01:30`, `-08:00`, `02:00`, or a name such as `Europe/Paris`. */
function zoneOffsetSeconds(seconds: number, zone: string): number | CelError {
  const fixed = /^([+-]?)(\d{1,2}):(\d{1,2})$/.exec(zone);
  if (fixed !== null) return (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60);
  if (zone === "" || zone === "UTC" || zone === "Local") return 0;
  if (zone.includes(":")) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(zone.slice(0, zone.indexOf(":")))}: invalid syntax`);
  let format = formats.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone,
        hourCycle: "h23",
        era: "short",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      return new CelError(`unknown time zone ${zone}`);
    }
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(seconds * 1000).map((part) => [part.type, part.value]));
  const number = (name: Intl.DateTimeFormatPartTypes) => Number(parts.get(name));
  const year = parts.get("era") === "BC" ? 1 - number("year") : number("year");
  const local = new Date(0);
  local.setUTCFullYear(year, number("month") - 1, number("day"));
  local.setUTCHours(number("hour"), number("minute"), number("second"));
  return local.getTime() / 1000 - seconds;
}
