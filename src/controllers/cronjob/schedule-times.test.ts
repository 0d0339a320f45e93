import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { parseSchedule } from "../../api/batch-v1/schedule.ts";
import { lastTime, nextTime } from "./schedule-times.ts";

function scheduleOf(text: string) {
  const parsed = parseSchedule(text);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed.schedule;
}

const cases: [schedule: string, zone: string, after: string, expect: string | undefined][] = [
  ["* * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"],
  ["* * * * *", "UTC", "2026-01-01T00:00:59.999Z", "2026-01-01T00:01:00Z"],
  ["0 0 1 1 *", "UTC", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"],
  ["30 9 * * 1-5", "UTC", "2026-01-02T10:00:00Z", "2026-01-05T09:30:00Z"],
  ["0 0 13 * 5", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
  ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"],
  ["0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", undefined],
  ["0 12 * * *", "America/New_York", "2026-07-01T00:00:00Z", "2026-07-01T16:00:00Z"],
  // There is no 02:30 on the day clocks go forward.
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"],
  ["@every 90s", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"],
];
for (const [text, zone, after, expect] of cases) {
  test(`schedule ${text} in ${zone} after ${after}`, () => {
    const next = nextTime(scheduleOf(text), zone, Date.parse(after));
    equal(next, expect === undefined ? undefined : Date.parse(expect));
  });
}

const missed: [schedule: string, since: string, now: string, expect: unknown][] = [
  ["0 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:59:00Z", undefined],
  ["0 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T05:10:00Z", { atMs: Date.UTC(2026, 0, 1, 5), isTooMany: false }],
  ["* * * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:30Z", { atMs: Date.UTC(2026, 0, 2), isTooMany: true }],
  ["0 0 1 * *", "2025-01-15T00:00:00Z", "2026-01-15T00:00:00Z", { atMs: Date.UTC(2026, 0, 1), isTooMany: false }],
];
for (const [text, since, now, expect] of missed) {
  test(`schedule ${text} between ${since} and ${now}`, () =>
    deepEqual(lastTime(scheduleOf(text), "UTC", { sinceMs: Date.parse(since), nowMs: Date.parse(now) }), expect));
}
