import assert from "node:assert/strict";
import { test } from "node:test";
import { networkRules } from "./network-rules.ts";

test("a table for each family that has pods; their ranges and Services' are sets", () => {
  const rules = networkRules({ table: "t", podCidrs: ["10.244.1.0/24"], clusterCidrs: ["10.244.0.0/16"], serviceCidrs: ["10.96.0.0/12", "fd00::/112"] });
  assert.match(rules, /ip saddr @pods ip daddr != @inside masquerade/);
  assert.match(rules, /elements = \{ 10\.244\.0\.0\/16, 10\.244\.1\.0\/24, 224\.0\.0\.0\/4 \}/);
  assert.match(rules, /set services .* elements = \{ 10\.96\.0\.0\/12 \}/);
  assert.doesNotMatch(rules, /ip6/);
});
