import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, nodeOf, podOf, scoresOf, verdicts } from "../../test-support/cluster.ts";
import type { Taint, Toleration } from "../../../api/core-v1/types.ts";

const refused = "unresolvable: node(s) had untolerated taint(s)";
const cases: { name: string; taint: Taint; tolerations?: Toleration[]; expect: string }[] = [
  { name: "NoSchedule", taint: { key: "k", value: "v", effect: "NoSchedule" }, expect: refused },
  { name: "NoExecute", taint: { key: "k", effect: "NoExecute" }, expect: refused },
  { name: "PreferNoSchedule keeps nobody away", taint: { key: "k", effect: "PreferNoSchedule" }, expect: "fits" },
  { name: "equal value", taint: { key: "k", value: "v", effect: "NoSchedule" }, tolerations: [{ key: "k", value: "v" }], expect: "fits" },
  { name: "other value", taint: { key: "k", value: "v", effect: "NoSchedule" }, tolerations: [{ key: "k", value: "w" }], expect: refused },
  { name: "any value", taint: { key: "k", value: "v", effect: "NoSchedule" }, tolerations: [{ key: "k", operator: "Exists" }], expect: "fits" },
  { name: "any taint", taint: { key: "k", effect: "NoExecute" }, tolerations: [{ operator: "Exists" }], expect: "fits" },
  { name: "other effect", taint: { key: "k", effect: "NoExecute" }, tolerations: [{ key: "k", operator: "Exists", effect: "NoSchedule" }], expect: refused },
];
for (const { name, taint, tolerations, expect } of cases)
  test(`taints: ${name}`, () => {
    const pod = podOf("p", tolerations === undefined ? {} : { tolerations });
    deepEqual(verdicts("TaintToleration", clusterOf([nodeOf("a", { taints: [taint] })]), pod), { a: expect });
  });

test("fewer soft taints are better", () => {
  const soft = (key: string) => ({ key, effect: "PreferNoSchedule" });
  const state = clusterOf([nodeOf("none"), nodeOf("one", { taints: [soft("a")] }), nodeOf("two", { taints: [soft("a"), soft("b")] })]);
  deepEqual(scoresOf("TaintToleration", state, podOf("p")), { none: 300, one: 150, two: 0 });
  deepEqual(scoresOf("TaintToleration", state, podOf("p", { tolerations: [{ operator: "Exists" }] })), { none: 300, one: 300, two: 300 });
});
