import assert from "node:assert/strict";
import { test } from "node:test";
import { rawNumber } from "../apimachinery/json.ts";
import { customCells } from "./custom-columns.ts";

const context = { nowMs: Date.parse("2026-01-01T00:01:00Z") };
const cell = (type: string, x: unknown, jsonPath = ".spec.x") =>
  customCells([{ name: "X", type, jsonPath }], { metadata: { name: "a" }, spec: { x } }, context)[1];

test("values that do not fit give nothing, texts show anything", () => {
  const table: [type: string, value: unknown, cell: unknown][] = [
    ["string", "t", "t"],
    ["string", 5, "5"],
    ["string", null, "<no value>"],
    ["string", { b: 1, a: "<" }, '{"a":"\\u003c","b":1}'],
    ["string", 1e21, "1e+21"],
    ["string", 0.00001, "1e-05"],
    ["string", rawNumber("2.0"), "2"],
    ["integer", 3.9, 3],
    ["integer", "7", null],
    ["integer", true, null],
    ["number", 1.5, 1.5],
    ["number", {}, null],
    ["boolean", false, false],
    ["boolean", "true", null],
    ["boolean", null, null],
    ["date", "2026-01-01T00:00:00Z", "60s"],
    ["date", "", "<unknown>"],
    ["date", "2026-01-01", "<invalid>"],
    ["date", 12, null],
    ["date", "2120-01-01T00:00:00Z", "<invalid>"],
  ];
  for (const [type, value, wanted] of table) assert.deepEqual(cell(type, value), wanted, `${type} ${JSON.stringify(value)}`);
  assert.equal(cell("string", undefined), null);
});

test("paths show their first hit", () => {
  const items = [
    { name: "x", kind: "a" },
    { name: "y", kind: "b" },
  ];
  const table: [path: string, value: unknown, cell: unknown][] = [
    [".spec.x[*].name", items, "x"],
    [".spec.x[-1:].name", items, "y"],
    ['.spec.x[?(@.kind=="b")].name', items, "y"],
    [".spec.x[0].name", [], null],
    [".spec.x[0].name", "text", null],
    [".spec.x.a\\.b/c", { "a.b/c": 1 }, "1"],
    [".spec.x['a.b']", { "a.b": 2 }, "2"],
    [".spec..name", items, "x"],
    [".spec.x[?(@.n>1)].n", [{ n: 1 }, { n: 2 }], "2"],
    [".spec.x[1,0].name", items, "y"],
    [".spec.x[?(@.z)].name", items, null],
  ];
  for (const [path, value, wanted] of table) assert.deepEqual(cell("string", value, path), wanted, path);
});

test("without usable columns the age is shown", () => {
  const object = { metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" } };
  assert.deepEqual(customCells(undefined, object, context), ["a", "60s"]);
  assert.deepEqual(customCells([{ name: "A", type: "string", jsonPath: ".spec[?(@.a" }], object, context), ["a", "60s"]);
});
