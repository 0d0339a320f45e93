/**
 * Schedules of CronJobs: five fields (minute, hour, day of month, month, day of week), or a word that begins with `@` (documentation
 * page "CronJob"). Fields are lists of ranges with steps; month and weekday have English names; `?` is `*`.
 */
import { parseDuration } from "./duration.ts";
import { isKnownTimeZone } from "./time-zone.ts";

/** What a schedule says, or why it cannot be read. */
export function parseSchedule(text: string): { readonly schedule: Schedule } | { readonly fault: string } {
  try {
    return { schedule: parse(text) };
  } catch (error) {
    if (error instanceof ScheduleFault) return { fault: error.message };
    throw error;
  }
}

export type Schedule = CalendarSchedule | { readonly everySeconds: number };

/** The legal values of each field. Days count by either rule when neither field is a star, by both otherwise. */
export interface CalendarSchedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  readonly isEveryDay: boolean;
  readonly isEveryWeekday: boolean;
}

class ScheduleFault extends Error {}

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const minuteField: Field = { min: 0, max: 59, names: [] };
const hourField: Field = { min: 0, max: 23, names: [] };
const dayField: Field = { min: 1, max: 31, names: [] };
const monthField: Field = { min: 1, max: 12, names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] };
const weekdayField: Field = { min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

const words: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

function parse(text: string): Schedule {
  if (text === "") throw new ScheduleFault("empty spec string");
  const rest = withoutTimeZone(text);
  if (rest.startsWith("@")) return parseWord(rest);
  const fields = rest.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== 5) throw new ScheduleFault(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  const minutes = parseField(minute, minuteField).values;
  const hours = parseField(hour, hourField).values;
  const days = parseField(day, dayField);
  const months = parseField(month, monthField).values;
  const weekdays = parseField(weekday, weekdayField);
  return { minutes, hours, days: days.values, months, weekdays: weekdays.values, isEveryDay: days.isStar, isEveryWeekday: weekdays.isStar };
}

/** A time zone in front is read, though the kind then refuses it. */
function withoutTimeZone(text: string): string {
  const prefix = /^(?:CRON_)?TZ=(\S*)/.exec(text);
  if (prefix === null) return text;
  const zone = prefix[1]!;
  if (zone !== "" && zone !== "Local" && !isKnownTimeZone(zone)) throw new ScheduleFault(`provided bad location ${zone}: unknown time zone ${zone}`);
  return text.slice(prefix[0].length).trim();
}

function parseWord(word: string): Schedule {
  const meaning = words[word];
  if (meaning !== undefined) return parse(meaning);
  if (!word.startsWith("@every ")) throw new ScheduleFault(`unrecognized descriptor: ${word}`);
  const parsed = parseDuration(word.slice("@every ".length));
  if ("fault" in parsed) throw new ScheduleFault(`failed to parse duration ${word}: ${parsed.fault}`);
  return { everySeconds: Math.max(1, Math.floor(parsed.seconds)) };
}

function parseField(text: string, field: Field): { readonly values: ReadonlySet<number>; readonly isStar: boolean } {
  const ranges = text
    .split(",")
    .filter((range) => range !== "")
    .map((range) => parseRange(range, field));
  const values = ranges.flatMap(({ start, end, step }) => Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step));
  return { values: new Set(values), isStar: ranges.some(({ isStar }) => isStar) };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly isStar: boolean;
}

/** `*`, `5`, `1-5`, each with a step or without: `5/10` goes on to the end. */
function parseRange(text: string, field: Field): Range {
  const [bounds, stepText, ...moreSteps] = text.split("/") as [string, string?, ...string[]];
  const [low, high, ...moreBounds] = bounds.split("-") as [string, string?, ...string[]];
  const isAny = low === "*" || low === "?";
  const start = isAny ? field.min : parseValue(low, field);
  if (!isAny && moreBounds.length > 0) throw new ScheduleFault(`too many hyphens: ${text}`);
  let end = isAny ? field.max : high === undefined ? start : parseValue(high, field);
  if (moreSteps.length > 0) throw new ScheduleFault(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (stepText !== undefined && high === undefined) end = field.max;
  if (start < field.min) throw new ScheduleFault(`beginning of range (${start}) below minimum (${field.min}): ${text}`);
  if (end > field.max) throw new ScheduleFault(`end of range (${end}) above maximum (${field.max}): ${text}`);
  if (start > end) throw new ScheduleFault(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0) throw new ScheduleFault(`step of range should be a positive number: ${text}`);
  return { start, end, step, isStar: isAny && step <= 1 };
}

function parseValue(text: string, field: Field): number {
  const named = field.names.indexOf(text.toLowerCase());
  return named < 0 ? parseNumber(text) : named + field.min;
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new ScheduleFault(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (Math.abs(value) >= 2 ** 63)
    throw new ScheduleFault(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`);
  if (value < 0) throw new ScheduleFault(`negative number (${value}) not allowed: ${text}`);
  return value;
}
