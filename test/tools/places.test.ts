/** End-to-end tests run side by side: no two files use the same port or range of addresses. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const folder = path.resolve(import.meta.dirname, "../e2e");
const owners = new Map<string, Set<string>>();
for (const file of readdirSync(folder)) {
  const text = readFileSync(path.join(folder, file), "utf8");
  for (const [place] of text.matchAll(/\b1[67]\d{3}\b|\b10\.(?:1[89]|2[0-3])\d\.0\.0\/\d+/g)) owners.set(place, (owners.get(place) ?? new Set()).add(file));
}

test("each end-to-end test has its own ports and ranges", () => {
  assert.ok(owners.size > 20);
  assert.deepEqual(
    [...owners].filter(([, files]) => files.size > 1).map(([place, files]) => `${place}: ${[...files].join(", ")}`),
    [],
  );
});
