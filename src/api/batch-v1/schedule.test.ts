import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "./duration.ts";
import { countIndexes, firstCommonIndex, parseIndexes } from "./indexes.ts";
import { parseSchedule } from "./schedule.ts";
import type { CalendarSchedule } from "./schedule.ts";
import { isKnownTimeZone } from "./time-zone.ts";

function calendar(text: string): CalendarSchedule {
  const parsed = parseSchedule(text);
  assert.ok("schedule" in parsed && "minutes" in parsed.schedule, text);
  return parsed.schedule;
}

test("schedules", () => {
  assert.deepEqual([...calendar("*/20 1-3 1,15 JAN mon-WED").minutes], [0, 20, 40]);
  assert.deepEqual([...calendar("*/20 1-3 1,15 JAN mon-WED").weekdays], [1, 2, 3]);
  assert.deepEqual([...calendar("50/5 * * * *").minutes], [50, 55]);
  assert.deepEqual([calendar("0 0 ? * 1").isEveryDay, calendar("0 0 ? * 1").isEveryWeekday], [true, false]);
  assert.deepEqual(parseSchedule("@every 1h30m"), { schedule: { everySeconds: 5400 } });
  assert.deepEqual([...calendar("@weekly").weekdays], [0]);
});

test("schedules that cannot be read", () => {
  const table: [text: string, fault: string][] = [
    ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
    ["60 * * * *", "end of range (60) above maximum (59): 60"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
    ["L * * * *", 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax'],
    ["@reboot", "unrecognized descriptor: @reboot"],
    ["@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'],
    ["TZ=Bogus * * * * *", "provided bad location Bogus: unknown time zone Bogus"],
  ];
  for (const [text, fault] of table) assert.deepEqual(parseSchedule(text), { fault }, text);
});

test("time zones by their exact names", () => {
  assert.deepEqual(["UTC", "Europe/Vienna", "US/Pacific", "Etc/GMT+1", "EST5EDT"].map(isKnownTimeZone), [true, true, true, true, true]);
  assert.deepEqual(["utc", "europe/vienna", "+02:00", "../etc", " UTC", ""].map(isKnownTimeZone), [false, false, false, false, false, false]);
});

test("durations", () => {
  assert.deepEqual(parseDuration("-1.5h"), { seconds: -5400 });
  assert.deepEqual(parseDuration("3"), { fault: 'time: missing unit in duration "3"' });
  assert.deepEqual(parseDuration("3x"), { fault: 'time: unknown unit "x" in duration "3x"' });
});

test("lists of indexes", () => {
  const parsed = parseIndexes("0,2-4", 5);
  assert.ok("intervals" in parsed);
  assert.equal(countIndexes(parsed.intervals), 4);
  assert.equal(
    firstCommonIndex(parsed.intervals, [
      [1, 1],
      [3, 3],
    ]),
    3,
  );
  assert.deepEqual(parseIndexes("3,1", 5), { fault: "non-increasing order, previous: 3, current: 1" });
  assert.deepEqual(parseIndexes("5", 5), { fault: 'too large index: "5"' });
});
