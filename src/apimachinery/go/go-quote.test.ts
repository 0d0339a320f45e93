import { test } from "node:test";
import { equal } from "node:assert/strict";
import { goQuote } from "./go-quote.ts";

test("Go quotes", () => {
  const table: [text: string, expected: string][] = [
    ["", '""'],
    ["plain text~", '"plain text~"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ["\x07\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'],
    ["\0\x1b\x7f", '"\\x00\\x1b\\x7f"'],
    ["ü€😀", '"ü€😀"'],
    ["\u0080\u00a0\u00ad\u200b\u2028\ufeff", '"\\u0080\\u00a0\\u00ad\\u200b\\u2028\\ufeff"'],
    ["\u{e0001}", '"\\U000e0001"'],
    ["a\ud800b", '"a\ufffdb"'],
    ["'`", '"\'`"'],
  ];
  for (const [text, expected] of table) equal(goQuote(text), expected, JSON.stringify(text));
});
