import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deepCopy } from "../../json.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { compare } from "./compare.ts";
import { mergeTyped } from "./merge-typed.ts";
import { ownedFields } from "./owned-fields.ts";
import { removeFields } from "./remove-fields.ts";
import { openThing, thing } from "./test-schema.ts";
import { typedFaults } from "./typed-faults.ts";
import { zeroObject } from "./zero-object.ts";

const spec = (value: JsonObject): JsonObject => ({ spec: value });
const inSpec = (set: object) => ({ "f:spec": set });

it("zeroObject has what Go always prints", () => {
  assert.deepEqual(zeroObject(thing), { metadata: {}, spec: { containers: null, either: 0, raw: null }, status: {} });
});

describe("compare", () => {
  const cases: [name: string, left: JsonObject, right: JsonObject, expected: { added?: object; modified?: object; removed?: object }][] = [
    ["a scalar", spec({ replicas: 1 }), spec({ replicas: 2 }), { modified: { "f:replicas": {} } }],
    ["a scalar that comes", spec({}), spec({ replicas: 2 }), { added: { "f:replicas": {} } }],
    [
      "null to a list",
      spec({ containers: null }),
      spec({ containers: [{ name: "c" }] }),
      { added: { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {} } } } },
    ],
    [
      "a list that goes",
      spec({ containers: [{ name: "c" }] }),
      spec({}),
      { removed: { "f:containers": { ".": {}, 'k:{"name":"c"}': { ".": {}, "f:name": {} } } } },
    ],
    ["null and empty differ", spec({ containers: null }), spec({ containers: [] }), { modified: { "f:containers": {} } }],
    [
      "an item's field",
      spec({ containers: [{ name: "c", image: "1" }] }),
      spec({ containers: [{ name: "c", image: "2" }] }),
      { modified: { "f:containers": { 'k:{"name":"c"}': { "f:image": {} } } } },
    ],
    ["the order of items", spec({ containers: [{ name: "c" }, { name: "d" }] }), spec({ containers: [{ name: "d" }, { name: "c" }] }), {}],
    ["an atomic map", spec({ selector: { a: "1" } }), spec({ selector: { a: "1", b: "2" } }), { modified: { "f:selector": {} } }],
    ["an atomic list", spec({ args: ["a"] }), spec({ args: ["b"] }), { modified: { "f:args": {} } }],
    ["raw JSON", spec({ raw: { a: 1 } }), spec({ raw: { a: 2 } }), { modified: { "f:raw": {} } }],
    [
      "duplicates that come",
      spec({ containers: [{ name: "c" }] }),
      spec({ containers: [{ name: "c" }, { name: "c" }] }),
      { added: { "f:containers": { 'k:{"name":"c"}': {} } }, removed: { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {} } } } },
    ],
  ];
  for (const [name, left, right, expected] of cases) {
    it(name, () => {
      const change = compare(left, right, thing);
      const wrapped = (set: object | undefined) => (set === undefined ? {} : inSpec(set));
      assert.deepEqual(change, { added: wrapped(expected.added), modified: wrapped(expected.modified), removed: wrapped(expected.removed) });
    });
  }

  it("sees free-form JSON by its values", () => {
    const change = compare({ free: { a: { b: 1 }, l: [1], o: { x: 1 } } }, { free: { a: { b: 2, c: 3 }, l: [2], o: "x" } }, openThing);
    assert.deepEqual(change, {
      added: { "f:free": { "f:a": { "f:c": {} } } },
      modified: { "f:free": { "f:a": { "f:b": {} }, "f:l": {}, "f:o": {} } },
      removed: { "f:free": { "f:o": { "f:x": {} } } },
    });
  });
});

describe("ownedFields", () => {
  const cases: [name: string, object: JsonObject, expected: object][] = [
    [
      "leaves, not what leads to them",
      { metadata: { labels: { a: "1" } }, spec: { replicas: 1 } },
      { "f:metadata": { "f:labels": { "f:a": {} } }, "f:spec": { "f:replicas": {} } },
    ],
    [
      "items and their keys",
      spec({ containers: [{ name: "c", ports: [{ port: 80 }] }] }),
      inSpec({ "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {}, "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } } } } }),
    ],
    ["items of a set", { metadata: { finalizers: ["e.com/f"] } }, { "f:metadata": { "f:finalizers": { 'v:"e.com/f"': {} } } }],
    ["empty maps and nulls", { metadata: { labels: {} }, spec: { replicas: null } }, { "f:metadata": { "f:labels": {} }, "f:spec": { "f:replicas": {} } }],
    ["not empty lists of items", spec({ containers: [] }), {}],
    ["atomic values whole", spec({ selector: {}, args: [] }), inSpec({ "f:selector": {}, "f:args": {} })],
    ["duplicates as one", spec({ containers: [{ name: "c" }, { name: "c" }] }), inSpec({ "f:containers": { 'k:{"name":"c"}': {} } })],
  ];
  for (const [name, object, expected] of cases) it(name, () => assert.deepEqual(ownedFields(object, thing), expected));
});

describe("typedFaults", () => {
  const cases: [object: JsonObject, expected: string | undefined][] = [
    [spec({ replicas: 1, either: "50%", raw: { any: [] }, containers: [{ name: "c" }] }), undefined],
    [spec({ replicas: "x" }), ".spec.replicas: expected numeric (int or float), got string"],
    [spec({ isPaused: 1 }), ".spec.isPaused: expected boolean, got &{1}"],
    [spec({ selector: { a: 1 } }), ".spec.selector.a: expected string, got &value.valueUnstructured{Value:1}"],
    [spec({ selector: "x" }), ".spec.selector: expected map, got &{x}"],
    [spec({ args: { a: 1 } }), ".spec.args: expected list, got &{map[a:1]}"],
    [spec({ args: [{ a: "1" }] }), '.spec.args[0]: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"1"}}'],
    [spec({ either: {} }), ".spec.either: expected any scalar, got &{map[]}"],
    [spec({ bogus: 1, other: 2 }), ".spec.bogus: field not declared in schema"],
    [spec({ containers: [{ name: "c" }, { name: "c" }] }), '.spec.containers: duplicate entries for key [name="c"]'],
    [
      spec({ containers: [{ name: "c", ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] }] }),
      '.spec.containers[name="c"].ports: duplicate entries for key [port=1,protocol="TCP"]',
    ],
    [spec({ containers: ["c"] }), ".spec.containers: element 0: associative list with keys may not have non-map elements"],
    [{ metadata: { finalizers: [null] } }, ".metadata.finalizers: element 0: associative list without keys has an element that's an explicit null"],
    [
      spec({ replicas: "x", isPaused: 1 }),
      "errors:\n  .spec.replicas: expected numeric (int or float), got string\n  .spec.isPaused: expected boolean, got &{1}",
    ],
  ];
  for (const [object, expected] of cases) it(JSON.stringify(object), () => assert.equal(typedFaults(object, thing), expected));
});

describe("mergeTyped", () => {
  const items = (...names: string[]): JsonObject => spec({ containers: names.map((name): JsonValue => ({ name })) });
  const cases: [name: string, live: JsonObject, config: JsonObject, expected: JsonObject][] = [
    ["fields", spec({ replicas: 1, args: ["a"] }), spec({ args: ["b"] }), spec({ replicas: 1, args: ["b"] })],
    ["an empty map changes nothing", { metadata: { labels: { a: "1" } } }, { metadata: { labels: {} } }, { metadata: { labels: { a: "1" } } }],
    ["an atomic map is replaced", spec({ selector: { a: "1" } }), spec({ selector: { b: "1" } }), spec({ selector: { b: "1" } })],
    [
      "items are merged",
      spec({ containers: [{ name: "c", image: "1" }] }),
      spec({ containers: [{ name: "c" }] }),
      spec({ containers: [{ name: "c", image: "1" }] }),
    ],
    ["new items follow", items("a", "b"), items("c"), items("a", "b", "c")],
    ["in the order of the configuration", items("a", "b", "c"), items("c", "a"), items("b", "c", "a")],
    ["others keep their place", items("a", "x", "b", "y"), items("a", "n", "b"), items("a", "x", "n", "b", "y")],
  ];
  for (const [name, live, config, expected] of cases) {
    it(name, () => {
      const before = deepCopy([live, config]);
      assert.deepEqual(mergeTyped(live, config, thing), expected);
      assert.deepEqual([live, config], before);
    });
  }
});

it("removeFields leaves null where all content goes", () => {
  const object = { metadata: { labels: { a: "1" } }, spec: { replicas: 1, containers: [{ name: "c", image: "1" }, { name: "d" }] } };
  const fields = {
    "f:metadata": { "f:labels": { "f:a": {} } },
    "f:spec": { "f:replicas": {}, "f:containers": { 'k:{"name":"c"}': { "f:image": {} }, 'k:{"name":"d"}': {} } },
  };
  assert.deepEqual(removeFields(object, fields, thing), { metadata: { labels: null }, spec: { containers: [{ name: "c" }] } });
});
