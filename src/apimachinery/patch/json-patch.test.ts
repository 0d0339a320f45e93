import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deepCopy } from "../json.ts";
import type { JsonValue } from "../json.ts";
import { applyJsonPatch, unknownJsonPatchFields } from "./json-patch.ts";

const document: JsonValue = { data: { a: "1" }, list: ["x", "y"], "e/f": { "m~n": 1 }, none: null };
const op = (kind: string, path: string, rest: { value?: JsonValue; from?: string } = {}): JsonValue => ({ op: kind, path, ...rest });

describe("applyJsonPatch", () => {
  const cases: [name: string, patch: JsonValue, expected: Record<string, JsonValue>][] = [
    ["nothing", [], {}],
    ["null", null, {}],
    ["add", [op("add", "/data/b", { value: "2" })], { data: { a: "1", b: "2" } }],
    ["add without value", [op("add", "/data/a")], { data: { a: null } }],
    ["add to a list", [op("add", "/list/1", { value: "n" })], { list: ["x", "n", "y"] }],
    ["add at the end", [op("add", "/list/-", { value: "n" }), op("add", "/list/3", { value: "o" })], { list: ["x", "y", "n", "o"] }],
    ["add counted from the end", [op("add", "/list/-1", { value: "n" })], { list: ["x", "y", "n"] }],
    ["remove counted from the end", [op("remove", "/list/-1")], { list: ["x"] }],
    ["replace of an absent key", [op("replace", "/data/b", { value: 1 })], { data: { a: "1", b: 1 } }],
    ["copy of an absent key", [op("copy", "/data/b", { from: "/data/zz" })], { data: { a: "1", b: null } }],
    ["move within a list", [op("move", "/list/1", { from: "/list/0" })], { list: ["y", "x"] }],
    ["test of an absent key for null", [op("test", "/data/b", { value: null })], {}],
    ["test with a leading zero", [op("test", "/list/01", { value: "y" })], {}],
    ["escapes", [op("test", "/e~1f/m~0n", { value: 1 })], {}],
    ["lost start of a path", [op("add", "data/a", { value: "1" })], { a: "1" }],
    ["into what was just added", [op("add", "/n", { value: {} }), op("add", "/n/k", { value: 1 })], { n: { k: 1 } }],
    ["a key called __proto__", [op("add", "/data/__proto__", { value: 1 }), op("test", "/data/__proto__", { value: 1 }), op("remove", "/data/__proto__")], {}],
  ];
  for (const [name, patch, expected] of cases) {
    it(name, () => {
      const before = [deepCopy(document), deepCopy(patch)];
      assert.deepEqual(applyJsonPatch(document, patch), { ...(document as object), ...expected });
      assert.deepEqual([document, patch], before, "the arguments stay as they are");
    });
  }

  const refused: [name: string, patch: JsonValue, kind: string][] = [
    ["test that fails", [op("test", "/data/a", { value: "2" })], "unprocessable"],
    ["remove of an absent key", [op("remove", "/data/b")], "unprocessable"],
    ["move of an absent key", [op("move", "/data/c", { from: "/data/b" })], "unprocessable"],
    ["under an absent parent", [op("add", "/zz/b", { value: 1 })], "unprocessable"],
    ["under null", [op("add", "/none/b", { value: 1 })], "unprocessable"],
    ["index beyond the end", [op("add", "/list/3", { value: 1 })], "unprocessable"],
    ["index that is no number", [op("add", "/list/one", { value: 1 })], "unprocessable"],
    ["remove with -", [op("remove", "/list/-")], "unprocessable"],
    ["root removed", [op("remove", "")], "unprocessable"],
    ["root replaced by a string", [op("replace", "", { value: "x" })], "unprocessable"],
    ["unknown operation", [op("merge", "/data")], "unprocessable"],
    ["no path", [{ op: "add", value: 1 }], "unprocessable"],
    ["null operation", [null], "unprocessable"],
    ["an object", { op: "add" }, "badRequest"],
    ["operations that are strings", ["add"], "badRequest"],
    ["too many operations", Array.from({ length: 10_001 }, () => op("test", "/data/a", { value: "1" })), "tooLarge"],
  ];
  for (const [name, patch, kind] of refused) {
    it(`refuses: ${name}`, () => {
      assert.throws(() => applyJsonPatch(document, patch), { name: "PatchError", kind });
    });
  }

  it("limits what copies add up to", () => {
    const big = { a: "x".repeat(1024 * 1024) };
    const copy = op("copy", "/b", { from: "/a" });
    assert.doesNotThrow(() => applyJsonPatch(big, [copy, copy]));
    assert.throws(() => applyJsonPatch(big, [copy, copy, copy]), { kind: "unprocessable" });
  });
});

it("unknownJsonPatchFields names members that no operation has", () => {
  assert.deepEqual(unknownJsonPatchFields([op("add", "/a", { value: 1 }), { op: "add", other: true }]), ['json patch unknown field "[1].other"']);
});
