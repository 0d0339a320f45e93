import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMicroTime, formatTime, parseInstant, parseTime } from "./time.ts";
import type { TimeLayout } from "./time.ts";

test("formats", () => {
  assert.equal(formatTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), "2026-01-02T03:04:05Z");
  assert.equal(formatMicroTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), "2026-01-02T03:04:05.678000Z");
  assert.equal(formatTime(-1), "1969-12-31T23:59:59Z");
});

test("reads", () => {
  assert.equal(parseTime("2026-01-02T03:04:05Z"), Date.UTC(2026, 0, 2, 3, 4, 5));
  assert.equal(parseTime("2026-01-02T03:04:05.25+02:00"), Date.UTC(2026, 0, 2, 1, 4, 5, 250));
  assert.deepEqual(parseInstant("2026-01-02T03:04:05.123456Z", "microTime"), { seconds: Date.UTC(2026, 0, 2, 3, 4, 5) / 1000, nanos: 123_456_000 });
  assert.equal(parseTime("0001-01-01T00:00:00Z"), -62_135_596_800_000);
});

test("errors", () => {
  const long = "2006-01-02T15:04:05Z07:00";
  const micro = "2006-01-02T15:04:05.000000Z07:00";
  const rows: [text: string, layout: TimeLayout, detail: string][] = [
    ["x", "time", ` as "${long}": cannot parse "x" as "2006"`],
    ["", "time", ` as "${long}": cannot parse "" as "2006"`],
    ["2020-01-01", "time", ` as "${long}": cannot parse "" as "T"`],
    ["2020-01-01t00:00:00z", "time", ` as "${long}": cannot parse "t00:00:00z" as "T"`],
    ["10000-01-01T00:00:00Z", "time", ` as "${long}": cannot parse "0-01-01T00:00:00Z" as "-"`],
    ["2020-13-01T00:00:00Z", "time", ": month out of range"],
    ["2021-02-29T00:00:00Z", "time", ": day out of range"],
    ["2020-01-01T24:00:00Z", "time", ": hour out of range"],
    ["2020-01-01T00:00:00Zx", "time", ': extra text: "x"'],
    ["2020-01-01T00:00:00Z", "microTime", ` as "${micro}": cannot parse "Z" as ".000000"`],
    ["2020-01-01T00:00:00.1Z", "microTime", ` as "${micro}": cannot parse ".1Z" as ".000000"`],
    ["2020-01-01T00:00:00.123456789Z", "microTime", ` as "${micro}": cannot parse "789Z" as "Z07:00"`],
  ];
  for (const [text, layout, detail] of rows) assert.throws(() => parseInstant(text, layout), { message: `parsing time "${text}"${detail}` }, text);
});
