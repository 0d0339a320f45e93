import assert from "node:assert/strict";
import test from "node:test";
import { judge, updatedBaseline, type Baseline, type FileResult, type ListedDifference } from "../../tools/golden/verdict.ts";

const result = (file: string, passed: number, ...failed: number[]): FileResult => ({
  file,
  area: file.split("/")[0]!,
  passed,
  failed: failed.map((step) => ({ step, detail: "" })),
});
const listed = (file: string, step: number | "*"): ListedDifference => ({ file, step, reason: "not yet", note: "" });

const table: { name: string; results: FileResult[]; listed?: ListedDifference[]; baseline?: Baseline; faults: RegExp[]; better?: string[] }[] = [
  { name: "all pass", results: [result("kinds/a.json", 9)], faults: [] },
  { name: "an unlisted difference", results: [result("kinds/a.json", 19, 3)], faults: [/a\.json: steps that differ and are not listed: 3/] },
  { name: "a listed difference", results: [result("kinds/a.json", 19, 3)], listed: [listed("kinds/a.json", 3)], faults: [] },
  {
    name: "a listed difference that has gone",
    results: [result("kinds/a.json", 20)],
    listed: [listed("kinds/a.json", 3)],
    faults: [/step 3: is listed as a difference/],
  },
  {
    name: "another step than the listed one",
    results: [result("kinds/a.json", 19, 4)],
    listed: [listed("kinds/a.json", 3)],
    faults: [/not listed: 4/, /step 3: is listed/],
  },
  { name: "under 90 %, all listed one by one", results: [result("kinds/a.json", 1, 2)], listed: [listed("kinds/a.json", 2)], faults: [/only 1 of 2/] },
  { name: "under 90 %, listed as a whole", results: [result("kinds/a.json", 1, 2)], listed: [listed("kinds/a.json", "*")], faults: [] },
  { name: "as at the baseline", results: [result("kinds/a.json", 1, 2)], baseline: { "kinds/a.json": { passed: 1, failed: 1 } }, faults: [] },
  {
    name: "worse than the baseline",
    results: [result("kinds/a.json", 1, 2, 3)],
    baseline: { "kinds/a.json": { passed: 2, failed: 1 } },
    faults: [/2 steps differ, 1 at the baseline/],
  },
  {
    name: "better than the baseline",
    results: [result("kinds/a.json", 3)],
    baseline: { "kinds/a.json": { passed: 2, failed: 1 } },
    faults: [],
    better: ["kinds/a.json"],
  },
  { name: "one in a hundred steps of an area with waits", results: [result("scheduler/a.json", 100), result("scheduler/b.json", 99, 1)], faults: [] },
  { name: "one in a thousand steps elsewhere", results: [result("kinds/a.json", 1000), result("kinds/b.json", 999, 1)], faults: [] },
  { name: "more than that", results: [result("scheduler/a.json", 100), result("scheduler/b.json", 97, 1, 2, 3)], faults: [/not listed: 1, 2, 3/] },
];

for (const row of table) {
  test(`a replay is judged: ${row.name}`, () => {
    const { faults, better } = judge(row.results, row.listed ?? [], row.baseline ?? {});
    assert.equal(faults.length, row.faults.length, faults.join("\n"));
    for (const [index, pattern] of row.faults.entries()) assert.match(faults[index]!, pattern);
    assert.deepEqual(better, row.better ?? []);
  });
}

test("a new baseline keeps what was not replayed and drops what passes", () => {
  const before = { "a/1": { passed: 1, failed: 1 }, "b/2": { passed: 0, failed: 9 } };
  assert.deepEqual(updatedBaseline(before, [result("a/1", 2), result("c/3", 4, 5), result("d/4", 1, 2)], [listed("d/4", 2)]), {
    "b/2": { passed: 0, failed: 9 },
    "c/3": { passed: 4, failed: 1 },
  });
});
