import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SortedMapWriter } from "./sorted-map.ts";

test("a sorted map agrees with a plain map under any sequence of sets and deletes, and old versions stay", () => {
  const operation = fc.tuple(fc.boolean(), fc.string({ minLength: 0, maxLength: 3, unit: fc.constantFrom("a", "b", "c", "/", "-") }), fc.integer());
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 400 }), (operations) => {
      const model = new Map<string, number>();
      const writer = new SortedMapWriter<number>();
      for (const [isSet, key, value] of operations) {
        // (Now and then nobody takes a snapshot between two changes.)
        const before = value % 3 === 0 ? writer.snapshot() : undefined;
        const beforeEntries = before && [...before.entries()];
        if (isSet) model.set(key, value);
        else model.delete(key);
        if (isSet) writer.set(key, value);
        else writer.delete(key);
        if (before !== undefined) assert.deepEqual([...before.entries()], beforeEntries);
        assert.equal(writer.get(key), model.get(key));
      }
      const map = writer.snapshot();
      assert.equal(writer.snapshot(), map);
      const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
      assert.deepEqual([...map.entries()], expected);
      assert.equal(map.size, model.size);
      for (const [key, value] of expected) assert.equal(map.get(key), value);
      assert.deepEqual(
        [...map.prefixed("a")],
        expected.filter(([key]) => key.startsWith("a")),
      );
      assert.equal(map.countPrefixed("ab"), expected.filter(([key]) => key.startsWith("ab")).length);
      assert.deepEqual(
        [...map.entries("b")],
        expected.filter(([key]) => key >= "b"),
      );
    }),
    { numRuns: 60 },
  );
});

test("ten thousand keys keep their order and counts", () => {
  const writer = new SortedMapWriter<number>();
  for (let index = 0; index < 10_000; index++) writer.set(`ns${index % 7}/name-${(index * 7919) % 10_000}`, index);
  const map = writer.snapshot();
  assert.equal(map.size, 10_000);
  const keys = [...map.entries()].map(([key]) => key);
  assert.deepEqual(keys, [...keys].sort());
  assert.equal(map.countPrefixed("ns3/"), keys.filter((key) => key.startsWith("ns3/")).length);
  const second = new SortedMapWriter(map);
  for (const key of keys) second.delete(key);
  assert.equal(second.snapshot().size, 0);
  assert.deepEqual([...second.snapshot().entries()], []);
  assert.equal(map.size, 10_000);
  assert.deepEqual(
    [...map.entries()].map(([key]) => key),
    keys,
  );
});
