import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { shortened } from "./answer-head.ts";

test("warnings: long ones are cut once they are too much together", () => {
  const texts = (count: number, length: number) => Array.from({ length: count }, (_, index) => `${String(index).padStart(3, "0")}${"x".repeat(length - 3)}`);
  deepEqual(shortened(texts(3, 100)), texts(3, 100));
  deepEqual(shortened(texts(8, 512)), texts(8, 512)); // 4096 characters are just enough
  const cut = shortened(texts(9, 512));
  deepEqual(
    cut,
    texts(9, 512).map((text) => text.slice(0, 256)),
  );
  // Of many no more is told once the limit is reached again.
  equal(shortened(texts(60, 300)).length, 16);
  deepEqual(shortened(["é".repeat(5000)]), ["é".repeat(256)]);
  deepEqual(shortened(["😀".repeat(4097)]), ["😀".repeat(256)]);
});
