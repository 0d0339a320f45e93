import assert from "node:assert/strict";
import { test } from "node:test";
import { percentOf, scaledCount } from "./int-or-string.ts";

test("counts and percentages", () => {
  assert.equal(scaledCount(3, 10, "up"), 3);
  assert.equal(scaledCount("25%", 10, "up"), 3);
  assert.equal(scaledCount("25%", 10, "down"), 2);
  assert.equal(scaledCount("web", 10, "up"), undefined);
  assert.equal(percentOf("100%"), 100);
  assert.equal(percentOf("1.5%"), undefined);
});
