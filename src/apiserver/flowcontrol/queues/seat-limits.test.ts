import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { PriorityLevelConfigurationSpec } from "../../../api/flowcontrol-v1/types.ts";
import { SeatDemand } from "./seat-demand.ts";
import { allotSeats, seatLimits, smoothDemand, smoothSteadyDemand } from "./seat-limits.ts";
import type { LevelDemand } from "./seat-limits.ts";

const limited = (nominalConcurrencyShares: number, lendablePercent: number, borrowingLimitPercent?: number): PriorityLevelConfigurationSpec => ({
  type: "Limited",
  limited: { nominalConcurrencyShares, lendablePercent, ...(borrowingLimitPercent !== undefined && { borrowingLimitPercent }) },
});

test("seats: shares of six seats, as a real server divides them", () => {
  const limits = seatLimits(
    new Map([
      ["catch-all", limited(5, 0)],
      ["exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
      ["global-default", limited(20, 50)],
      ["leader-election", limited(10, 0)],
      ["node-high", limited(40, 25)],
      ["pf-queue", limited(1, 0, 0)],
      ["pf-reject", limited(1, 0, 0)],
      ["system", limited(30, 33)],
      ["workload-high", limited(40, 50)],
      ["workload-low", limited(100, 90)],
    ]),
    6,
  );
  const table = Object.fromEntries([...limits].map(([name, { nominal, lower, upper }]) => [name, [nominal, lower, upper]]));
  deepEqual(table, {
    "catch-all": [1, 1, 7],
    exempt: [0, 0, 6],
    "global-default": [1, 0, 7],
    "leader-election": [1, 1, 7],
    "node-high": [1, 1, 7],
    "pf-queue": [1, 1, 1],
    "pf-reject": [1, 1, 1],
    system: [1, 1, 7],
    "workload-high": [1, 0, 7],
    "workload-low": [3, 0, 9],
  });
});

const level = (nominal: number, lower: number, upper: number, smoothed: number, rest: Partial<LevelDemand> = {}): LevelDemand => ({
  nominal,
  lower,
  upper,
  peak: smoothed,
  smoothed,
  isExempt: false,
  ...rest,
});

test("seats: what one level does not need another may have", () => {
  const table: [say: string, levels: LevelDemand[], seats: number, limits: number[]][] = [
    ["the busy one gets what the idle one lends", [level(50, 10, 150, 0), level(50, 50, 150, 200)], 100, [10, 90]],
    ["not more than it may borrow", [level(50, 10, 150, 0), level(50, 50, 60, 200)], 100, [40, 60]],
    ["its own it keeps when it needs it", [level(50, 10, 150, 60), level(50, 10, 150, 400)], 100, [50, 50]],
    ["exempt ones take first", [level(0, 0, 100, 30, { isExempt: true }), level(50, 0, 150, 30), level(50, 0, 150, 300)], 100, [30, 30, 50]],
    ["all have plenty", [level(50, 50, 50, 1), level(50, 50, 50, 1)], 1000, [50, 50]],
  ];
  for (const [say, levels, seats, limits] of table)
    deepEqual(
      allotSeats(levels, seats).allotments.map(({ limit }) => limit),
      limits,
      say,
    );
});

test("seats: allotments stay within bounds and, but for rounding, within the server's seats", () => {
  const any = fc.record({ nominal: fc.nat(50), lend: fc.nat(100), borrow: fc.nat(100), peak: fc.nat(200), smoothed: fc.nat(200) });
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 8 }), (given) => {
      const levels = given.map(({ nominal, lend, borrow, peak, smoothed }) =>
        level(nominal, nominal - Math.round((nominal * lend) / 100), nominal + borrow, smoothed, { peak }),
      );
      const seats = levels.reduce((sum, { nominal }) => sum + nominal, 0);
      const { allotments } = allotSeats(levels, seats);
      ok(allotments.every(({ limit }, index) => limit >= levels[index]!.lower && limit <= levels[index]!.upper));
      ok(allotments.reduce((sum, { limit }) => sum + limit, 0) <= seats + levels.length);
    }),
  );
});

test("seats: demand is weighted by time, rises at once and falls slowly", () => {
  const demand = new SeatDemand(0);
  demand.set(1, 7000);
  demand.set(0, 9000);
  demand.set(2, 9500);
  demand.set(0, 10_000);
  const period = demand.take(10_000);
  deepEqual([period.average, period.peak, period.deviation.toFixed(4)], [0.3, 2, Math.sqrt(0.4 - 0.09).toFixed(4)]);
  equal(smoothDemand(0, { average: 3, deviation: 1, peak: 10 }), 4);
  equal(smoothDemand(100, { average: 0, deviation: 0, peak: 0 }), 97.7);
  let before = 100;
  for (let count = 0; count < 5; count++) before = smoothDemand(before, { average: 7, deviation: 0, peak: 7 });
  equal(smoothSteadyDemand(100, 7, 5).toFixed(9), before.toFixed(9));
});
