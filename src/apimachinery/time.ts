/**
 * Instants as the API writes them: RFC 3339 in UTC, to the second (Time) or with six digits (MicroTime). Instants in memory are
 * milliseconds since 1970; what needs more digits uses `Instant`. Reading follows Go's time.Parse, errors included.
 */

/** An instant with more digits than milliseconds hold. `nanos` is in [0, 10^9). */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

export type TimeLayout = "time" | "microTime";

/** A text that is no time; the message is Go's. */
export class TimeError extends Error {
  override name = "TimeError";
}

/** `2026-01-02T03:04:05Z`; fractions of a second are cut off. */
export function formatTime(ms: number): string {
  return `${dateText(Math.floor(ms / 1000))}Z`;
}

/** `2026-01-02T03:04:05.678000Z`. */
export function formatMicroTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return formatInstant({ seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) }, "microTime");
}

export function formatInstant(instant: Instant, layout: TimeLayout): string {
  const fraction =
    layout === "time"
      ? ""
      : `.${Math.floor(instant.nanos / 1000)
          .toString()
          .padStart(6, "0")}`;
  return `${dateText(instant.seconds)}${fraction}Z`;
}

/** Milliseconds of an RFC 3339 text, with or without a fraction; throws `TimeError`. */
export function parseTime(text: string): number {
  const instant = parseInstant(text, "time");
  return instant.seconds * 1000 + instant.nanos / 1e6;
}

/** Seconds of Go's zero time, 0001-01-01T00:00:00Z, which the API prints as null. */
export const zeroSeconds = -62_135_596_800;

const layouts = { time: "2006-01-02T15:04:05Z07:00", microTime: "2006-01-02T15:04:05.000000Z07:00" } as const;
const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** Reads `text` as Go does with the API's layout; throws `TimeError`. */
export function parseInstant(text: string, layout: TimeLayout): Instant {
  const plain = layout === "time" ? plainSeconds(text) : undefined;
  if (plain !== undefined) return { seconds: plain, nanos: 0 };
  const reader = new Reader(text, layouts[layout]);
  const year = reader.digits("2006", 4, 4);
  reader.literal("-");
  const month = reader.digits("01", 2, 2);
  if (month < 1 || month > 12) reader.outOfRange("month");
  reader.literal("-");
  const day = reader.digits("02", 2, 2);
  reader.literal("T");
  const hour = reader.digits("15", 1, 2);
  if (hour > 23) reader.outOfRange("hour");
  reader.literal(":");
  const minute = reader.digits("04", 2, 2);
  if (minute > 59) reader.outOfRange("minute");
  reader.literal(":");
  const second = reader.digits("05", 2, 2);
  if (second > 59) reader.outOfRange("second");
  const nanos = layout === "microTime" ? reader.fraction(6) : reader.optionalFraction();
  const offsetSeconds = reader.offset();
  reader.end();
  if (day < 1 || day > daysIn(year, month)) reader.fail(": day out of range");
  return { seconds: epochSeconds(year, month, day) + hour * 3600 + minute * 60 + second - offsetSeconds, nanos };
}

/** Seconds of `2026-01-02T03:04:05Z`, the form in which the API prints times; undefined for whatever looks different or unusual. */
function plainSeconds(text: string): number | undefined {
  if (text.length !== 20 || text[4] !== "-" || text[7] !== "-" || text[10] !== "T" || text[13] !== ":" || text[16] !== ":" || text[19] !== "Z")
    return undefined;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const isOrdinary =
    year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 28 && hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59;
  return isOrdinary ? Date.UTC(year, month - 1, day, hour, minute, second) / 1000 : undefined;
}

/** NaN when they are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - zero;
  const ones = text.charCodeAt(at + 1) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

const zero = 0x30;

/** Walks over the text chunk by chunk, as the layout asks. */
class Reader {
  readonly #text: string;
  readonly #layout: string;
  #rest: string;

  constructor(text: string, layout: string) {
    this.#text = text;
    this.#layout = layout;
    this.#rest = text;
  }

  fail(detail: string): never {
    throw new TimeError(`parsing time ${quote(this.#text)}${detail}`);
  }
  outOfRange(part: string): never {
    this.fail(`: ${part} out of range`);
  }
  #mismatch(wanted: string, rest: string): never {
    this.fail(` as ${quote(this.#layout)}: cannot parse ${quote(rest)} as ${quote(wanted)}`);
  }

  literal(wanted: string): void {
    if (!this.#rest.startsWith(wanted)) this.#mismatch(wanted, this.#rest);
    this.#rest = this.#rest.slice(wanted.length);
  }

  digits(wanted: string, min: number, max: number): number {
    const match = new RegExp(`^\\d{${min},${max}}`).exec(this.#rest);
    if (match === null) this.#mismatch(wanted, this.#rest);
    this.#rest = this.#rest.slice(match[0].length);
    return Number(match[0]);
  }

  fraction(count: number): number {
    const match = new RegExp(`^[.,]\\d{${count}}`).exec(this.#rest);
    if (match === null) this.#mismatch(`.${"0".repeat(count)}`, this.#rest);
    return this.#takeFraction(match[0]);
  }

  optionalFraction(): number {
    const match = /^[.,]\d+/.exec(this.#rest);
    return match === null ? 0 : this.#takeFraction(match[0]);
  }

  #takeFraction(text: string): number {
    this.#rest = this.#rest.slice(text.length);
    return Number(text.slice(1, 10).padEnd(9, "0"));
  }

  /** Seconds east of UTC. */
  offset(): number {
    if (this.#rest.startsWith("Z")) {
      this.#rest = this.#rest.slice(1);
      return 0;
    }
    const match = /^([+-])(\d\d):(\d\d)/.exec(this.#rest);
    if (match === null) this.#mismatch("Z07:00", this.#rest);
    this.#rest = this.#rest.slice(match[0].length);
    const [hours, minutes] = [Number(match[2]), Number(match[3])];
    if (hours > 24) this.outOfRange("time zone offset hour");
    if (minutes > 60) this.outOfRange("time zone offset minute");
    return (match[1] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
  }

  end(): void {
    if (this.#rest !== "") this.fail(`: extra text: ${quote(this.#rest)}`);
  }
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : days[month - 1]!;
}

function epochSeconds(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 1000;
}

/** `2026-01-02T03:04:05` of seconds since 1970. */
/** The last one asked for: what is written carries the time of the writing, many objects a second. */
const latest = { seconds: Number.NaN, text: "" };

function dateText(seconds: number): string {
  if (latest.seconds !== seconds) Object.assign(latest, { seconds, text: new Date(seconds * 1000).toISOString().slice(0, -5) });
  return latest.text;
}

function quote(text: string): string {
  const bytes = Buffer.from(text);
  let quoted = "";
  for (const byte of bytes) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte >= 0x20 && byte < 0x7f) quoted += String.fromCharCode(byte);
    else quoted += `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `"${quoted}"`;
}
