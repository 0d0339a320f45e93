import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { seededRandom } from "../base/random.ts";
import { KeyIndex } from "./key-index.ts";
import type { Version } from "./version.ts";

const version = (key: string, modRevision: number): Version => ({
  key,
  value: undefined,
  valueBytes: 0,
  createRevision: 1,
  modRevision,
  isDeleted: false,
  expiresAtMs: 0,
  previous: undefined,
});

function keysFrom(index: KeyIndex, from: string): string[] {
  const keys: string[] = [];
  index.scan(from, (key) => keys.push(key) > 0);
  return keys;
}

describe("key index", () => {
  for (const [name, keyOf] of [
    ["ascending", (at: number) => String(at).padStart(6, "0")],
    ["descending", (at: number) => String(100_000 - at).padStart(6, "0")],
    ["scattered", (at: number) => String((at * 7_919) % 100_003).padStart(6, "0")],
  ] as const) {
    it(`keeps ${name} keys in order`, () => {
      const index = new KeyIndex();
      for (let at = 0; at < 3_000; at++) index.set(keyOf(at), version(keyOf(at), at));
      const sorted = Array.from({ length: 3_000 }, (_, at) => keyOf(at)).toSorted();
      assert.deepEqual(keysFrom(index, ""), sorted);
      assert.deepEqual(keysFrom(index, sorted[1_234]!), sorted.slice(1_234));
      assert.deepEqual(keysFrom(index, `${sorted[1_234]!}x`), sorted.slice(1_235));
      assert.deepEqual(
        [...index.batches(500)].flat().map(({ key }) => key),
        sorted,
      );
      assert.ok([...index.batches(500)].every((batch) => batch.length <= 500));
    });
  }

  it("agrees with a map over random changes", () => {
    const random = seededRandom(5);
    const index = new KeyIndex();
    const model = new Map<string, number>();
    for (let step = 0; step < 20_000; step++) {
      const key = `k${random.integer(2_000)}`;
      // Deletions outweigh at the end, so that chunks empty.
      if (random.integer(20_000) < step) {
        index.delete(key);
        model.delete(key);
      } else {
        index.set(key, version(key, step));
        model.set(key, step);
      }
    }
    assert.equal(index.size, model.size);
    assert.deepEqual(keysFrom(index, ""), [...model.keys()].toSorted());
    for (let at = 0; at < 2_000; at++) assert.equal(index.get(`k${at}`)?.modRevision, model.get(`k${at}`));
  });
});
