import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, nextBackoff, restartDueMs } from "./crash-backoff.ts";
import type { CrashBackoff } from "./crash-backoff.ts";

test("back-off of a container that ends at once: none, 10 s, doubled up to 300 s", () => {
  const waits: number[] = [];
  let backoff: CrashBackoff | undefined;
  let nowMs = 0;
  for (let run = 0; run < 8; run++) {
    const endedMs = nowMs;
    nowMs = restartDueMs(backoff, endedMs);
    waits.push((nowMs - endedMs) / 1000);
    backoff = nextBackoff(backoff, endedMs, nowMs);
  }
  assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
});

test("after ten quiet minutes it begins anew", () => {
  const backoff = { delayMs: 300_000, updatedMs: 0 };
  assert.equal(restartDueMs(backoff, 600_001), 600_001);
  assert.equal(nextBackoff(backoff, 600_001, 600_001).delayMs, 10_000);
});

const durations: [ms: number, text: string][] = [
  [10_000, "10s"],
  [160_000, "2m40s"],
  [300_000, "5m0s"],
  [3_600_000, "1h0m0s"],
];
for (const [ms, text] of durations) test(`duration ${text}`, () => assert.equal(durationText(ms), text));
