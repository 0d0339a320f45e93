import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "./virtual-clock.ts";

test("the time of day is whole, though a timer stands between two milliseconds", async () => {
  const clock = new VirtualClock(1000);
  await clock.advance(0.5);
  assert.equal(clock.nowMs(), 1000);
  assert.equal(clock.monotonicMs(), 0.5);
});
