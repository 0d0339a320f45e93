import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, nodeOf, podOf, scoresOf, verdicts } from "../../test-support/cluster.ts";
import type { NodeSelectorRequirement, NodeSelectorTerm } from "../../../api/core-v1/types.ts";

const refused = "unresolvable: node(s) didn't match Pod's node affinity/selector";
const required = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const cluster = () => clusterOf([nodeOf("a", { labels: { disk: "ssd", size: "10" } }), nodeOf("b")]);

const operators: { requirement: NodeSelectorRequirement; expect: [a: string, b: string] }[] = [
  { requirement: { key: "disk", operator: "In", values: ["ssd"] }, expect: ["fits", refused] },
  { requirement: { key: "disk", operator: "NotIn", values: ["ssd"] }, expect: [refused, "fits"] },
  { requirement: { key: "disk", operator: "Exists" }, expect: ["fits", refused] },
  { requirement: { key: "disk", operator: "DoesNotExist" }, expect: [refused, "fits"] },
  { requirement: { key: "size", operator: "Gt", values: ["9"] }, expect: ["fits", refused] },
  { requirement: { key: "size", operator: "Lt", values: ["10"] }, expect: [refused, refused] },
  { requirement: { key: "disk", operator: "Gt", values: ["9"] }, expect: [refused, refused] },
];
for (const { requirement, expect } of operators)
  test(`node affinity: ${requirement.key} ${requirement.operator}`, () => {
    deepEqual(verdicts("NodeAffinity", cluster(), podOf("p", required({ matchExpressions: [requirement] }))), { a: expect[0], b: expect[1] });
  });

test("node affinity: an empty term selects nothing, one of several terms is enough", () => {
  deepEqual(verdicts("NodeAffinity", cluster(), podOf("p", required({}))), { a: refused, b: refused });
  deepEqual(verdicts("NodeAffinity", cluster(), podOf("p", required({}, { matchExpressions: [{ key: "disk", operator: "Exists" }] }))), {
    a: "fits",
    b: refused,
  });
});

test("node affinity: names narrow the search, conflicting names end it", () => {
  const named = (...values: string[]) => ({ key: "metadata.name", operator: "In", values });
  deepEqual(verdicts("NodeAffinity", cluster(), podOf("p", required({ matchFields: [named("b")] }))), { a: "excluded", b: "fits" });
  deepEqual(verdicts("NodeAffinity", cluster(), podOf("p", required({ matchFields: [named("a"), named("b")] }))), {
    "*": "unresolvable: pod affinity terms conflict",
  });
});

test("node affinity: preferences add up, the highest sum counts 100", () => {
  const preferred = (weight: number, key: string) => ({ weight, preference: { matchExpressions: [{ key, operator: "Exists" }] } });
  const pod = podOf("p", {
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred(2, "disk"), preferred(1, "kubernetes.io/hostname")] } },
  });
  deepEqual(scoresOf("NodeAffinity", cluster(), pod), { a: 200, b: 66 });
});
