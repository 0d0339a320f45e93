import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { limitSize } from "./limits.ts";
import { verdict } from "./plan.ts";
import { countForAverage, countForPods } from "./replica-count.ts";
import type { HorizontalPodAutoscalerSpec } from "../../api/autoscaling-v2/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const nowMs = Date.UTC(2026, 0, 1, 1);
const pod = (name: string, phase = "Running"): Pod => ({
  metadata: { name },
  status: { phase, startTime: "2026-01-01T00:00:00Z", conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] },
});
const tolerance = { up: 0.1, down: 0.1 };
const requests = new Map([
  ["a", 100],
  ["b", 100],
]);

const counts: [name: string, amounts: [string, number][], pods: Pod[], expect: number][] = [
  [
    "twice as busy",
    [
      ["a", 100],
      ["b", 100],
    ],
    [pod("a"), pod("b")],
    4,
  ],
  [
    "nearly right",
    [
      ["a", 52],
      ["b", 52],
    ],
    [pod("a"), pod("b")],
    2,
  ],
  [
    "idle",
    [
      ["a", 10],
      ["b", 10],
    ],
    [pod("a"), pod("b")],
    1,
  ],
  ["one not measured counts as idle on the way up", [["a", 100]], [pod("a"), pod("b")], 2],
  ["one still pending", [["a", 100]], [pod("a"), pod("b", "Pending")], 2],
];
for (const [name, amounts, pods, expect] of counts) {
  test(`autoscaler: ${name}`, () => {
    equal(
      countForPods({ pods, amounts: new Map(amounts), requests, target: { percent: 50 }, current: 2, tolerance, isProcessorTime: true }, nowMs).replicas,
      expect,
    );
  });
}

test("autoscaler: an outside metric is shared", () => equal(countForAverage(30_000, 10_000, { current: 1, tolerance }), 3));

const spec = (more: Partial<HorizontalPodAutoscalerSpec> = {}): HorizontalPodAutoscalerSpec => ({
  scaleTargetRef: { kind: "Deployment", name: "d" },
  maxReplicas: 10,
  ...more,
});
const history = (...sizes: number[]) => ({ recommendations: sizes.map((size) => ({ atMs: nowMs - 60_000, size })), changes: [] });
const limits: [name: string, spec: HorizontalPodAutoscalerSpec, sizes: [number, number], before: number[], expect: [number, string, string]][] = [
  ["up", spec(), [2, 4], [], [4, "ReadyForNewScale", "DesiredWithinRange"]],
  ["no further than the maximum", spec(), [8, 20], [], [10, "ReadyForNewScale", "TooManyReplicas"]],
  ["no faster than the pace", spec({ maxReplicas: 50 }), [2, 20], [], [6, "ReadyForNewScale", "ScaleUpLimit"]],
  ["not down at once", spec(), [4, 1], [4], [4, "ScaleDownStabilized", "DesiredWithinRange"]],
  [
    "down at once when told so",
    spec({ behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } }),
    [4, 1],
    [4],
    [1, "ReadyForNewScale", "DesiredWithinRange"],
  ],
  ["never down when told so", spec({ behavior: { scaleDown: { selectPolicy: "Disabled" } } }), [4, 1], [], [4, "ReadyForNewScale", "ScaleDownLimit"]],
];
for (const [name, given, [current, wanted], before, expect] of limits) {
  test(`autoscaler's limits: ${name}`, () => {
    const { size, stability, limit } = limitSize(given, history(...before), { current, wanted }, nowMs);
    deepEqual([size, stability.reason, limit.reason], expect);
  });
}

test("autoscaler: bounds hold without metrics", () => {
  equal(verdict({ metadata: {}, spec: spec() }, 0).kind, "disabled");
  deepEqual(verdict({ metadata: {}, spec: spec() }, 12), { kind: "outside", size: 10, reason: "Current number of replicas above Spec.MaxReplicas" });
});
