import assert from "node:assert/strict";
import { test } from "node:test";
import { deepCopy, deepEqual, jsonTextOf, rawNumber } from "./json.ts";
import type { JsonValue } from "./json.ts";

/** Lists and objects in turn, so many levels deep. */
function nested(levels: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { member: value };
  return value;
}

const unequal: readonly (readonly [unknown, unknown])[] = [
  [1, "1"],
  [null, {}],
  [[], {}],
  [{}, []],
  [[1], [1, 2]],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: 1 }, { b: 1 }],
  [{ a: undefined }, { b: undefined }],
  [{ constructor: {} }, {}],
  [JSON.parse('{"__proto__":{}}'), {}],
  [JSON.parse('{"__proto__":{}}'), { a: {} }],
  [rawNumber("1.0"), 1],
  [rawNumber("1.0"), rawNumber("1.00")],
  [nested(100_000, 1), nested(100_000, 2)],
];
for (const [index, [left, right]] of unequal.entries())
  test(`unequal ${index}`, () => {
    assert.equal(deepEqual(left, right), false);
    assert.equal(deepEqual(right, left), false);
  });

test("copies are equal and share nothing, whatever the members are called and however deep they lie", () => {
  const value = JSON.parse('{"__proto__":{"a":[1,null,"x",{"b":[[]]}]},"rawJSON":"1","hasOwnProperty":true}') as Record<string, unknown>;
  value["number"] = rawNumber("1.0");
  const copy = deepCopy(value);
  assert.equal(deepEqual(copy, value), true);
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  (copy["__proto__"] as { a: unknown[] }).a.push(2);
  assert.equal(deepEqual(copy, value), false);
  assert.equal(deepEqual(nested(100_000, 1), deepCopy(nested(100_000, 1))), true);
});

test("the order of members does not count", () => {
  assert.equal(deepEqual({ a: 1, b: { c: [1], d: 2 } }, { b: { d: 2, c: [1] }, a: 1 }), true);
});

test("the text of what is deeper than the stack", () => {
  const inner = { a: [1, rawNumber("1.0"), 'x"', null, {}, []], ["__proto__"]: true };
  const levels = 100_000;
  const text = jsonTextOf(nested(levels, inner) as JsonValue);
  const opening = '{"member":['.repeat(levels / 2);
  assert.equal(text.slice(0, opening.length), opening);
  assert.equal(text.slice(opening.length, -levels), JSON.stringify(inner));
  assert.equal(text.slice(-levels), "]}".repeat(levels / 2));
});
