import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../../base/virtual-clock.ts";
import { Bookmarks } from "./bookmarks.ts";

test("watches whose bookmarks are due in the same second are called together, by one timer", async () => {
  const clock = new VirtualClock(0);
  const bookmarks = new Bookmarks(clock);
  const called: [string, number][] = [];
  await clock.advance(100);
  bookmarks.next(() => called.push(["a", clock.monotonicMs()]));
  await clock.advance(200);
  bookmarks.next(() => called.push(["b", clock.monotonicMs()]));
  await clock.advance(900);
  bookmarks.next(() => called.push(["c", clock.monotonicMs()]));
  await clock.advance(62_000);
  assert.deepEqual(called, [
    ["a", 61_000],
    ["b", 61_000],
    ["c", 62_000],
  ]);
});

test("a watch that ends is not called, and the last one takes the timer with it", async () => {
  const clock = new VirtualClock(0);
  const bookmarks = new Bookmarks(clock);
  const called: string[] = [];
  const cancelled = [bookmarks.next(() => called.push("a")), bookmarks.next(() => called.push("b"))];
  bookmarks.next(() => called.push("c"));
  for (const cancel of cancelled) cancel();
  await clock.advance(61_000);
  assert.deepEqual(called, ["c"]);
  bookmarks.next(() => called.push("d"))();
  assert.equal(clock.nextDueMs(), undefined);
  cancelled[0]!();
});

test("who is called may wait for the next one at once", async () => {
  const clock = new VirtualClock(0);
  const bookmarks = new Bookmarks(clock);
  const times: number[] = [];
  const round = () => {
    times.push(clock.monotonicMs());
    bookmarks.next(round);
  };
  bookmarks.next(round);
  await clock.advance(180_000);
  assert.deepEqual(times, [60_000, 120_000, 180_000]);
});
