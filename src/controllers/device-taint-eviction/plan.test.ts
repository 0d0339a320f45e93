import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { planDeviceEviction } from "./plan.ts";
import { planRule } from "./rule-plan.ts";
import type { DeviceToleration, DeviceTaintRule, ResourceClaim, ResourceSlice } from "../../api/resource-v1/types.ts";
import type { UpdateAction } from "../../operator/index.ts";

const nowMs = Date.UTC(2026, 0, 1, 1);
const timeAdded = "2026-01-01T00:59:50Z";
const slice = (effect: string, generation = 1): ResourceSlice => ({
  metadata: { name: `s${generation}` },
  spec: { driver: "d", pool: { name: "p", generation, resourceSliceCount: 1 }, devices: [{ name: "x", taints: [{ key: "broken", effect, timeAdded }] }] },
});
const claim = (...tolerations: DeviceToleration[]): ResourceClaim => ({
  metadata: { name: "c" },
  status: { allocation: { devices: { results: [{ request: "r", driver: "d", pool: "p", device: "x", tolerations }] } } },
});
const rule = (effect: string): DeviceTaintRule => ({
  metadata: { name: "r", generation: 1 },
  spec: { deviceSelector: { driver: "d" }, taint: { key: "k", effect, timeAdded } },
});
const pod = { metadata: { name: "pod", namespace: "x" } };

const cases: [name: string, claim: ResourceClaim, slices: ResourceSlice[], rules: DeviceTaintRule[], expect: string[] | number][] = [
  ["a tainted device", claim(), [slice("NoExecute")], [], ["event", "patch", "delete"]],
  ["another effect", claim(), [slice("NoSchedule")], [], []],
  ["a newer slice without the taint", claim(), [slice("NoExecute"), slice("NoSchedule", 2)], [], []],
  ["tolerated", claim({ operator: "Exists" }), [slice("NoExecute")], [], []],
  ["tolerated for a while", claim({ operator: "Exists", tolerationSeconds: 30 }), [slice("NoExecute")], [], 20_000],
  ["a rule", claim(), [], [rule("NoExecute")], ["event", "patch", "delete"]],
  ["a rule without effect", claim(), [], [rule("None")], []],
];
for (const [name, given, slices, rules, expect] of cases) {
  test(`device taints: ${name}`, () => {
    const plan = planDeviceEviction({ pod, claims: [given], slices, rules }, nowMs);
    if (typeof expect === "number") equal(plan.requeueAfterMs, expect);
    else
      deepEqual(
        plan.actions.map(({ kind }) => kind),
        expect,
      );
  });
}

test("device taints: a rule tells what it does", () => {
  const told = (effect: string, affected: string[], evicted: number) => {
    const [action] = planRule({ rule: rule(effect), published: 2, allocated: 1, affected, evicted }, nowMs).actions;
    return ((action as UpdateAction).object as DeviceTaintRule).status?.conditions?.[0]?.message;
  };
  equal(told("NoExecute", [], 1), "1 pod evicted since starting the controller.");
  equal(told("None", ["x"], 0)?.startsWith("2 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace"), true);
});
