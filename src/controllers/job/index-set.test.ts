import { test } from "node:test";
import { equal } from "node:assert/strict";
import { IndexSet } from "./index-set.ts";

const cases: [text: string, completions: number, expect: string][] = [
  ["", 5, ""],
  ["0-2", 5, "0-2"],
  ["1,3-5,7", 10, "1,3-5,7"],
  ["0,1", 5, "0,1"],
  ["0,1,2", 5, "0-2"],
  ["3-9", 5, "3,4"],
  ["7", 5, ""],
  ["x,2", 5, "2"],
];
for (const [text, completions, expect] of cases)
  test(`completion indexes: ${JSON.stringify(text)} of ${completions}`, () => equal(IndexSet.parse(text, completions).toString(), expect));
