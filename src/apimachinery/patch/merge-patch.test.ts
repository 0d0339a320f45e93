import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deepCopy } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { applyMergePatch } from "./merge-patch.ts";

describe("applyMergePatch", () => {
  const document: JsonObject = { data: { a: "1", b: "2" }, list: [{ x: 1, y: null }], text: "t" };
  const cases: [name: string, patch: JsonValue, expected: JsonObject][] = [
    ["nothing", {}, document],
    ["sets and deletes", { data: { a: "9", b: null, c: "3" } }, { ...document, data: { a: "9", c: "3" } }],
    ["deletes what is not there", { none: null, data: { none: null } }, document],
    ["replaces lists", { list: [1] }, { ...document, list: [1] }],
    ["drops nulls of new maps, not of lists", { n: { a: null, b: [null, { c: null, d: 1 }] } }, { ...document, n: { b: [null, { d: 1 }] } }],
    ["a map over a scalar", { text: { a: 1, b: null } }, { ...document, text: { a: 1 } }],
    ["a scalar over a map", { data: 1 }, { ...document, data: 1 }],
    ["a list over a map, as it is", { data: [{ a: null }] }, { ...document, data: [{ a: null }] }],
  ];
  for (const [name, patch, expected] of cases) {
    it(name, () => {
      const before = [deepCopy(document), deepCopy(patch)];
      assert.deepEqual(applyMergePatch(document, patch), expected);
      assert.deepEqual([document, patch], before);
    });
  }

  const refused: [patch: JsonValue, message: string][] = [
    [null, "Invalid JSON Patch"],
    [[], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
    ["x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"],
    [1, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"],
  ];
  for (const [patch, message] of refused) {
    it(`refuses ${JSON.stringify(patch)}`, () => {
      assert.throws(() => applyMergePatch(document, patch), { kind: "badRequest", message });
    });
  }

  it("does not recurse", () => {
    const deep = (leaf: string) => JSON.parse(`${'{"a":'.repeat(9000)}"${leaf}"${"}".repeat(9000)}`) as JsonObject;
    assert.doesNotThrow(() => applyMergePatch(deep("x"), deep("y")));
  });
});
