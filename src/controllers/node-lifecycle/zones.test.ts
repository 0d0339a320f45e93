import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { evictionRate, zoneStates } from "./zones.ts";
import type { ZoneState } from "./zones.ts";
import type { Node } from "../../api/core-v1/types.ts";

const settings = { rate: 0.1, secondaryRate: 0.01, largeZoneSize: 50, unhealthyThreshold: 0.55 };
const nodes = (ready: number, silent: number): Node[] =>
  Array.from({ length: ready + silent }, (_, index) => ({
    metadata: { name: `n${index}` },
    status: { conditions: [{ type: "Ready", status: index < ready ? "True" : "Unknown" }] },
  }));
const states: [ready: number, silent: number, expect: ZoneState][] = [
  [3, 0, "normal"],
  [0, 1, "full"],
  [1, 2, "normal"],
  [1, 3, "partial"],
  [5, 5, "normal"],
  [4, 6, "partial"],
];
for (const [ready, silent, expect] of states) {
  test(`zone of ${ready} ready and ${silent} silent nodes`, () =>
    deepEqual(zoneStates(nodes(ready, silent), settings).get(""), { size: ready + silent, state: expect }));
}
const rates: [state: ZoneState, size: number, expect: number][] = [
  ["normal", 3, 0.1],
  ["full", 3, 0.1],
  ["partial", 50, 0],
  ["partial", 51, 0.01],
];
for (const [state, size, expect] of rates) test(`eviction rate of a ${state} zone of ${size}`, () => equal(evictionRate({ state, size }, settings), expect));
