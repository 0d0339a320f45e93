import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deepCopy } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { TypeRegistry } from "../schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const merged = { patchStrategy: "merge", patchMergeKey: "name" };
const thing = new TypeRegistry({
  Thing: {
    fields: [
      ["data", "map[string]string", "e", 1],
      ["union", "Union", "e", 2, { patchStrategy: "retainKeys" }],
      ["items", "[]Item", "e", 3, merged],
      ["words", "[]string", "e", 4, { patchStrategy: "merge" }],
      ["args", "[]string", "e", 5],
      ["raw", "apimachinery.pkg.runtime.RawExtension", "e", 6],
    ],
  },
  Union: {
    fields: [
      ["type", "string", "e", 1],
      ["one", "Item", "e", 2],
      ["two", "Item", "e", 3],
    ],
  },
  Item: {
    fields: [
      ["name", "string", "", 1],
      ["value", "string", "e", 2],
      ["items", "[]Item", "e", 3, merged],
    ],
  },
}).struct("Thing")!;

const document: JsonObject = {
  data: { a: "1", b: "2" },
  union: { type: "one", one: { name: "x" } },
  items: [
    { name: "a", value: "1", items: [{ name: "n" }] },
    { name: "b", value: "2" },
  ],
  words: ["p", "q"],
  args: ["1", "2"],
  raw: { k: {} },
};
const [a, b] = document["items"] as JsonObject[];

describe("applyStrategicMergePatch", () => {
  const cases: [name: string, patch: JsonValue, expected: JsonObject][] = [
    ["null", null, {}],
    ["maps are merged", { data: { a: null, c: "3" } }, { data: { b: "2", c: "3" } }],
    ["a map replaced", { data: { $patch: "replace", z: "9" } }, { data: { z: "9" } }],
    ["a map emptied", { data: { $patch: "delete", z: "9" } }, { data: {} }],
    ["keys retained", { union: { $retainKeys: ["type", "two"], type: "two", two: { name: "y" } } }, { union: { type: "two", two: { name: "y" } } }],
    ["an item changed", { items: [{ name: "b", value: "9" }] }, { items: [a!, { name: "b", value: "9" }] }],
    ["a new item goes first", { items: [{ name: "c" }] }, { items: [{ name: "c" }, a!, b!] }],
    [
      "an item deleted",
      {
        items: [
          { name: "a", $patch: "delete" },
          { name: "zz", $patch: "delete" },
        ],
      },
      { items: [b!] },
    ],
    ["all items replaced", { items: [{ $patch: "replace" }, { name: "only" }] }, { items: [{ name: "only" }] }],
    [
      "the same item twice",
      {
        items: [
          { name: "b", value: "8" },
          { name: "b", value: "9" },
        ],
      },
      { items: [a!, { name: "b", value: "9" }] },
    ],
    ["items within items", { items: [{ name: "a", items: [{ name: "m" }] }] }, { items: [{ ...a!, items: [{ name: "m" }, { name: "n" }] }, b!] }],
    ["an order", { "$setElementOrder/items": [{ name: "b" }, { name: "a" }], items: [{ name: "b", value: "9" }] }, { items: [{ name: "b", value: "9" }, a!] }],
    ["an order with an unknown item", { "$setElementOrder/items": [{ name: "q" }, { name: "b" }, { name: "a" }] }, { items: [b!, a!] }],
    ["scalars are a set", { words: ["n", "q", "n"] }, { words: ["n", "p", "q"] }],
    ["scalars deleted", { "$deleteFromPrimitiveList/words": ["p", "zz"] }, { words: ["q"] }],
    ["no list to delete", { "$deleteFromPrimitiveList/words": "p" }, {}],
    ["other lists are replaced", { args: ["9"] }, { args: ["9"] }],
    ["a list deleted", { items: null }, { items: undefined! }],
  ];
  for (const [name, patch, expected] of cases) {
    it(name, () => {
      const before = [deepCopy(document), deepCopy(patch)];
      const wanted = Object.fromEntries(Object.entries({ ...document, ...expected }).filter(([, value]) => value !== undefined));
      assert.deepEqual(applyStrategicMergePatch(document, patch, thing), wanted);
      assert.deepEqual([document, patch], before, "the arguments stay as they are");
    });
  }

  it("takes directives out of what is new", () => {
    assert.deepEqual(
      applyStrategicMergePatch(
        {},
        {
          data: { $patch: "bogus" },
          items: [
            { name: "a", value: null },
            { $patch: "delete", name: "b" },
          ],
        },
        thing,
      ),
      { items: [{ name: "a" }] },
    );
  });

  const refused: [name: string, patch: JsonValue, kind: string, message: string][] = [
    ["a list", [], "badRequest", "json: cannot unmarshal array into Go value of type map[string]interface {}"],
    ["an item without its key", { items: [{ value: "1" }] }, "failure", "map: map[value:1] does not contain declared merge key: name"],
    ["an unknown directive", { data: { $patch: "merge", y: "1" } }, "failure", "unknown patch type: merge in map: map[$patch:merge y:1]"],
    [
      "an unknown directive of an item",
      { items: [{ $patch: "explode", name: "a" }] },
      "failure",
      "unknown patch type: explode in map: map[$patch:explode name:a]",
    ],
    ["merge in an item", { items: [{ $patch: "merge", name: "a" }] }, "failure", "merging lists cannot yet be specified in the patch"],
    ["keys that are not retained", { union: { $retainKeys: ["type"], two: { name: "y" } } }, "badRequest", "invalid patch format of retainKeys"],
    [
      "an order that misses an item",
      { "$setElementOrder/items": [{ name: "a" }], items: [{ name: "b" }] },
      "failure",
      "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    ["mixed items", { words: [1] }, "failure", "list element types are not identical: [[p q] [1]]"],
    ["into raw JSON", { raw: { k: { z: 1 } } }, "failure", 'unable to find api field in struct RawExtension for the json field "k"'],
  ];
  for (const [name, patch, kind, message] of refused) {
    it(`refuses ${name}`, () => {
      assert.throws(() => applyStrategicMergePatch(document, patch, thing), { name: "PatchError", kind, message });
    });
  }
});
