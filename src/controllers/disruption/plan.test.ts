import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planBudget } from "./plan.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from "../../api/policy-v1/types.ts";
import type { UpdateAction } from "../../operator/index.ts";

const nowMs = Date.UTC(2026, 0, 1);
const pods = (ready: number, others: number): Pod[] =>
  Array.from({ length: ready + others }, (_, index) => ({
    metadata: { name: `p${index}` },
    status: { conditions: [{ type: "Ready", status: index < ready ? "True" : "False" }] },
  }));
const cases: {
  name: string;
  spec: PodDisruptionBudgetSpec;
  ready: number;
  others?: number;
  total?: number;
  disrupted?: Record<string, string>;
  expect: [allowed: number, healthy: number, desired: number, expected: number];
}[] = [
  { name: "at least two of three", spec: { minAvailable: 2 }, ready: 3, expect: [1, 3, 2, 3] },
  { name: "at least two, one is not ready", spec: { minAvailable: 2 }, ready: 2, others: 1, expect: [0, 2, 2, 3] },
  { name: "half, rounded up", spec: { minAvailable: "50%" }, ready: 3, total: 3, expect: [1, 3, 2, 3] },
  { name: "one may be down", spec: { maxUnavailable: 1 }, ready: 3, total: 3, expect: [1, 3, 2, 3] },
  { name: "one may be down, and is", spec: { maxUnavailable: 1 }, ready: 2, others: 1, total: 3, expect: [0, 2, 2, 3] },
  { name: "bare pods have no size", spec: { maxUnavailable: 1 }, ready: 2, expect: [0, 2, 0, 0] },
  { name: "one was evicted just now", spec: { minAvailable: 1 }, ready: 3, disrupted: { p0: "2025-12-31T23:59:00Z" }, expect: [1, 2, 1, 3] },
  { name: "one was evicted long ago, and stayed", spec: { minAvailable: 1 }, ready: 3, disrupted: { p0: "2025-12-31T23:00:00Z" }, expect: [2, 3, 1, 3] },
];
for (const { name, spec, ready, others = 0, total = 0, disrupted, expect } of cases) {
  test(`disruption budget: ${name}`, () => {
    const status = {
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      ...(disrupted !== undefined && { disruptedPods: disrupted }),
    };
    const budget = { metadata: { name: "b", namespace: "x" }, spec, status };
    const written = planBudget({ budget, pods: pods(ready, others), scales: { total, unmanaged: [] } }, nowMs).actions.at(-1) as UpdateAction;
    const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = written.object.status as PodDisruptionBudgetStatus;
    deepEqual([disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods], expect);
  });
}
