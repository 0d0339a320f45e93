import assert from "node:assert/strict";
import { test } from "node:test";
import { Pacer } from "./pacer.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("a slice is over when its time has passed, and a turn begins a new one", async () => {
  const clock = new VirtualClock();
  const pacer = new Pacer(clock, 8);
  assert.equal(pacer.isDue(), false);
  await clock.advance(8);
  assert.equal(pacer.isDue(), true);
  const turn = pacer.turn();
  await clock.advance(0);
  await turn;
  assert.equal(pacer.isDue(), false);
});
