/** End-to-end tests run side by side: no two files of a run use the same port or range of addresses. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const folder = path.resolve(import.meta.dirname, "../e2e");

for (const files of ["*.test.ts", "*.e2e.ts"])
  test(`each of ${files} has its own ports and ranges`, () => {
    const owners = new Map<string, Set<string>>();
    for (const file of globSync(files, { cwd: folder })) {
      const text = readFileSync(path.join(folder, file), "utf8");
      for (const [place] of text.matchAll(/\b1[67]\d{3}\b|\b10\.(?:1[89]|2[0-3])\d\.0\.0\/\d+/g)) owners.set(place, (owners.get(place) ?? new Set()).add(file));
    }
    assert.ok(owners.size > 10);
    assert.deepEqual(
      [...owners].filter(([, users]) => users.size > 1).map(([place, users]) => `${place}: ${[...users].join(", ")}`),
      [],
    );
  });
