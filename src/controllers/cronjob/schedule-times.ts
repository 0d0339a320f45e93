import type { CalendarSchedule, Schedule } from "../../api/batch-v1/schedule.ts";

/** The first time of a schedule after `afterMs`, in ms; undefined when there is none within five years. Wall clock time of `timeZone`. */
export function nextTime(schedule: Schedule, timeZone: string, afterMs: number): number | undefined {
  if ("everySeconds" in schedule) return Math.floor(afterMs / 1000) * 1000 + schedule.everySeconds * 1000;
  let time = Temporal.Instant.fromEpochMilliseconds(afterMs)
    .toZonedDateTimeISO(timeZone)
    .round({ smallestUnit: "minute", roundingMode: "floor" })
    .add({ minutes: 1 });
  const end = time.add({ years: horizonYears });
  while (Temporal.ZonedDateTime.compare(time, end) < 0) {
    if (!schedule.months.has(time.month)) time = time.with({ day: 1 }).startOfDay().add({ months: 1 });
    else if (!isDay(schedule, time)) time = time.startOfDay().add({ days: 1 }).startOfDay();
    else if (!schedule.hours.has(time.hour)) time = time.round({ smallestUnit: "hour", roundingMode: "floor" }).add({ hours: 1 });
    else if (!schedule.minutes.has(time.minute)) time = time.add({ minutes: 1 });
    else return time.epochMilliseconds;
  }
  return undefined;
}

/** The last time of a schedule after `sinceMs` and not after `nowMs`, and whether so many were missed that something is wrong. */
export function lastTime(
  schedule: Schedule,
  timeZone: string,
  { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
): { atMs: number; isTooMany: boolean } | undefined {
  const first = nextTime(schedule, timeZone, sinceMs);
  if (first === undefined || first > nowMs) return undefined;
  const second = nextTime(schedule, timeZone, first);
  if (second === undefined || second > nowMs) return { atMs: first, isTooMany: false };
  const missed = Math.floor((nowMs - first) / (second - first)) + 1;
  // Most schedules are regular: begin close to now, and earlier where that was too close.
  let atMs = first;
  for (const backMs of [2 * (second - first), 86_400_000, 32 * 86_400_000, 366 * 86_400_000]) {
    const candidate = nextTime(schedule, timeZone, Math.max(first - 1, nowMs - backMs));
    if (candidate === undefined || candidate > nowMs) continue;
    atMs = candidate;
    break;
  }
  for (let next = nextTime(schedule, timeZone, atMs); next !== undefined && next <= nowMs; next = nextTime(schedule, timeZone, next)) atMs = next;
  return { atMs, isTooMany: missed > tooManyMissed };
}

const horizonYears = 5;
const tooManyMissed = 100;

/** Where both the day of the month and the weekday are given, one of them is enough. */
function isDay({ days, weekdays, isEveryDay, isEveryWeekday }: CalendarSchedule, time: Temporal.ZonedDateTime): boolean {
  const isMonthDay = days.has(time.day);
  const isWeekday = weekdays.has(time.dayOfWeek % 7);
  return isEveryDay || isEveryWeekday ? isMonthDay && isWeekday : isMonthDay || isWeekday;
}
