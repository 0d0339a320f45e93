import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { difference, forEachMember, intersection, recursiveDifference, setOfPaths, sortSet, union } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";
import { parseFields, pathText } from "./path-element.ts";

const whole: FieldSet = { "f:data": { ".": {}, "f:a": {}, "f:b": {} } };

describe("sets of fields", () => {
  const cases: [name: string, actual: FieldSet, expected: FieldSet][] = [
    ["union", union({ "f:data": { "f:a": {} } }, { "f:data": { "f:b": {} }, "f:x": {} }), { "f:data": { "f:a": {}, "f:b": {} }, "f:x": {} }],
    ["union of a member and what is below it", union({ "f:data": {} }, { "f:data": { "f:a": {} } }), { "f:data": { ".": {}, "f:a": {} } }],
    ["union with nothing", union(whole, {}), whole],
    ["difference", difference(whole, { "f:data": { "f:a": {} } }), { "f:data": { ".": {}, "f:b": {} } }],
    ["difference keeps the member without its children", difference(whole, { "f:data": { "f:a": {}, "f:b": {} } }), { "f:data": {} }],
    ["difference keeps the children without the member", difference(whole, { "f:data": {} }), { "f:data": { "f:a": {}, "f:b": {} } }],
    ["difference leaves no empty node", difference({ "f:data": { "f:a": {} } }, { "f:data": { "f:a": {} } }), {}],
    ["recursive difference takes what is below", recursiveDifference(whole, { "f:data": {} }), {}],
    ["recursive difference of a child", recursiveDifference(whole, { "f:data": { "f:b": {} } }), { "f:data": { ".": {}, "f:a": {} } }],
    ["intersection", intersection(whole, { "f:data": { "f:b": {}, "f:c": {} } }), { "f:data": { "f:b": {} } }],
    ["intersection of members", intersection(whole, { "f:data": {} }), { "f:data": {} }],
    ["paths", setOfPaths(["status", "metadata.labels"]), { "f:status": {}, "f:metadata": { "f:labels": {} } }],
  ];
  for (const [name, actual, expected] of cases) it(name, () => assert.deepEqual(actual, expected));

  it("returns the same set when nothing is taken", () => {
    assert.equal(difference(whole, { "f:x": {} }), whole);
    assert.equal(recursiveDifference(whole, { "f:data": { "f:c": {} } }), whole);
  });

  it("visits members of a level before those below", () => {
    const visited: string[] = [];
    forEachMember({ "f:z": {}, "f:a": { ".": {}, 'k:{"name":"c","port":1}': { "f:b": {} } }, "f:s": { 'v:"x"': {} } }, (path) => visited.push(pathText(path)));
    assert.deepEqual(visited, [".a", ".z", '.a[name="c",port=1].b', '.s[="x"]']);
  });

  it("sorts names, keys, values, indexes", () => {
    assert.deepEqual(Object.keys(sortSet({ "i:0": {}, "v:1": {}, 'k:{"a":1}': {}, "f:b": {}, "f:a": {}, ".": {} })), [
      ".",
      "f:a",
      "f:b",
      'k:{"a":1}',
      "v:1",
      "i:0",
    ]);
  });
});

describe("parseFields", () => {
  const cases: [name: string, fields: unknown, expected: FieldSet | undefined][] = [
    ["normal form", whole, whole],
    ["keys are sorted", { 'k:{ "b": 1, "a": 2 }': {} }, { 'k:{"a":2,"b":1}': {} }],
    [
      "what is behind normal members",
      { "f:z": { ".": {}, "f:y": {} }, 'k:{"b":1,"a":2}': { ".": {}, "f:c": {} } },
      { "f:z": { ".": {}, "f:y": {} }, 'k:{"a":2,"b":1}': { ".": {}, "f:c": {} } },
    ],
    ["below normal members", { "f:z": { ".": {}, "f:y": { "x:y": {} } } }, { "f:z": { ".": {}, "f:y": {} } }],
    ["a dot with content", { "f:a": { ".": { "f:b": {} } } }, { "f:a": {} }],
    ["unknown elements are left out", { "x:y": {}, "f:a": {} }, { "f:a": {} }],
    ["a dot at the root means nothing", { ".": {}, "f:a": {} }, { "f:a": {} }],
    ["no map", "x", undefined],
    ["no map inside", { "f:a": 1 }, undefined],
    ["a bad key", { "k:x": {} }, undefined],
    ["a bad element", { x: {} }, undefined],
  ];
  for (const [name, fields, expected] of cases) it(name, () => assert.deepEqual(parseFields(fields), expected));

  it("takes what is normal as it is", () => assert.equal(parseFields(whole), whole));

  it("refuses hostile depth", () => {
    assert.equal(parseFields(JSON.parse(`${'{"f:a":'.repeat(9000)}{}${"}".repeat(9000)}`)), undefined);
  });
});
