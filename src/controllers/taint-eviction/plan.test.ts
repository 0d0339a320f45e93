import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { planEviction, toleratedMs } from "./plan.ts";
import type { Taint, Toleration } from "../../api/core-v1/types.ts";

const taint = (key: string, value?: string): Taint => ({ key, effect: "NoExecute", ...(value !== undefined && { value }) });
const cases: { name: string; tolerations: Toleration[]; taints: Taint[]; expect: number }[] = [
  { name: "no taint", tolerations: [], taints: [], expect: Number.POSITIVE_INFINITY },
  { name: "not tolerated", tolerations: [], taints: [taint("k")], expect: 0 },
  { name: "for ever", tolerations: [{ key: "k", operator: "Exists" }], taints: [taint("k", "v")], expect: Number.POSITIVE_INFINITY },
  { name: "everything", tolerations: [{ operator: "Exists" }], taints: [taint("k"), taint("l")], expect: Number.POSITIVE_INFINITY },
  { name: "for a while", tolerations: [{ key: "k", operator: "Exists", tolerationSeconds: 30 }], taints: [taint("k")], expect: 30_000 },
  {
    name: "for the shorter while",
    tolerations: [
      { key: "k", operator: "Exists", tolerationSeconds: 30 },
      { key: "l", operator: "Exists", tolerationSeconds: 10 },
    ],
    taints: [taint("k"), taint("l")],
    expect: 10_000,
  },
  { name: "one of two", tolerations: [{ key: "k", operator: "Exists" }], taints: [taint("k"), taint("l")], expect: 0 },
  { name: "another value", tolerations: [{ key: "k", value: "w" }], taints: [taint("k", "v")], expect: 0 },
  { name: "another effect", tolerations: [{ key: "k", operator: "Exists", effect: "NoSchedule" }], taints: [taint("k")], expect: 0 },
  { name: "a negative while", tolerations: [{ key: "k", operator: "Exists", tolerationSeconds: -5 }], taints: [taint("k")], expect: 0 },
];
for (const { name, tolerations, taints, expect } of cases) test(`tolerated: ${name}`, () => equal(toleratedMs(tolerations, taints), expect));

const plans: { name: string; seconds?: number; isLeaving?: boolean; expect: unknown }[] = [
  { name: "at once", expect: [["event", "patch", "delete"], undefined] },
  { name: "later", seconds: 30, expect: [[], 20_000] },
  { name: "its time is over", seconds: 10, expect: [["event", "patch", "delete"], undefined] },
  { name: "it leaves already", isLeaving: true, expect: [[], undefined] },
];
for (const { name, seconds, isLeaving = false, expect } of plans) {
  test(`eviction by taint: ${name}`, () => {
    const tolerations = seconds === undefined ? [] : [{ key: "k", operator: "Exists", tolerationSeconds: seconds }];
    const pod = {
      metadata: { name: "p", namespace: "x", uid: "u", ...(isLeaving && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
      spec: { containers: [], tolerations },
    };
    const plan = planEviction({ pod, taints: [taint("k")], sinceMs: 0 }, 10_000);
    deepEqual([plan.actions.map(({ kind }) => kind), plan.requeueAfterMs], expect);
  });
}
