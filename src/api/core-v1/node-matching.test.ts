import { test } from "node:test";
import { equal } from "node:assert/strict";
import { allowsNode, matchesAnyTerm } from "./node-matching.ts";
import type { NodeSelectorRequirement, PodSpec } from "./types.ts";

const node = { name: "n", labels: { zone: "a", size: "12", empty: "" } };
const requirements: readonly (readonly [NodeSelectorRequirement, boolean])[] = [
  [{ key: "zone", operator: "In", values: ["a", "b"] }, true],
  [{ key: "zone", operator: "In", values: ["b"] }, false],
  [{ key: "absent", operator: "In", values: [""] }, false],
  [{ key: "zone", operator: "NotIn", values: ["a"] }, false],
  [{ key: "absent", operator: "NotIn", values: ["a"] }, true],
  [{ key: "empty", operator: "Exists" }, true],
  [{ key: "toString", operator: "Exists" }, false],
  [{ key: "absent", operator: "DoesNotExist" }, true],
  [{ key: "size", operator: "Gt", values: ["11"] }, true],
  [{ key: "size", operator: "Lt", values: ["12"] }, false],
  [{ key: "size", operator: "Gt", values: ["-9223372036854775808"] }, true],
  [{ key: "zone", operator: "Gt", values: ["1"] }, false],
  [{ key: "size", operator: "Unknown", values: ["12"] }, false],
];
for (const [requirement, expected] of requirements)
  test(`node selector: ${JSON.stringify(requirement)} on ${JSON.stringify(node.labels)}`, () =>
    equal(matchesAnyTerm([{ matchExpressions: [requirement] }], node), expected));

const named = (...values: string[]) => ({ matchFields: [{ key: "metadata.name", operator: "In", values }] });
const required = (...nodeSelectorTerms: object[]): PodSpec => ({
  containers: [],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const specs: readonly (readonly [string, PodSpec | undefined, boolean])[] = [
  ["nothing asked", undefined, true],
  ["a label it has", { containers: [], nodeSelector: { zone: "a" } }, true],
  ["a label of another value", { containers: [], nodeSelector: { zone: "b" } }, false],
  ["no terms", required(), false],
  ["an empty term", required({}), false],
  ["its name", required(named("n")), true],
  ["another name", required(named("m")), false],
  ["an unknown field", required({ matchFields: [{ key: "spec.x", operator: "In", values: ["n"] }] }), false],
  ["one of two terms", required(named("m"), { matchExpressions: [{ key: "zone", operator: "Exists" }] }), true],
];
for (const [name, spec, expected] of specs) test(`node affinity: ${name}`, () => equal(allowsNode(spec, node), expected));
