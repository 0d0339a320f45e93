import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { sleep } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { KeyedLanes } from "./keyed-lanes.ts";

test("lanes: side by side up to the limit, one after the other within a key", async () => {
  const clock = new VirtualClock();
  const lanes = new KeyedLanes(2);
  const log: string[] = [];
  const adding = (async () => {
    for (const [key, name] of [
      ["x", "x1"],
      ["x", "x2"],
      ["y", "y1"],
      ["z", "z1"],
    ] as const) {
      await lanes.add(key, async () => {
        log.push(`${clock.monotonicMs()} ${name}`);
        await sleep(clock, 10);
      });
    }
    await lanes.join();
    log.push(`${clock.monotonicMs()} done`);
  })();
  await clock.advance(100);
  await adding;
  deepEqual(log, ["0 x1", "10 y1", "10 x2", "20 z1", "30 done"]);
});

test("lanes: callers who share them get room in turn, never more than there is", async () => {
  const clock = new VirtualClock();
  const lanes = new KeyedLanes(1);
  const log: string[] = [];
  const caller = async (name: string) => {
    for (const index of [1, 2]) {
      await lanes.add(`${name}${index}`, async () => {
        log.push(`${clock.monotonicMs()} ${name}${index}`);
        await sleep(clock, 10);
      });
    }
  };
  const both = Promise.all([caller("a"), caller("b")]);
  await clock.advance(100);
  await both;
  deepEqual(log, ["0 a1", "10 b1", "20 a2", "30 b2"]);
});
