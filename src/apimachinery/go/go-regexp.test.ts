import assert from "node:assert/strict";
import { test } from "node:test";
import { regExpFault } from "./go-regexp.ts";

test("regular expressions that Go refuses", () => {
  const table: [expression: string, fault: string | undefined][] = [
    ["^[a-z]+(?:x|y){2,3}$", undefined],
    ["\\d+\\.\\d+[\\w-]*", undefined],
    ["(?P<n>a)(?i)b*?", undefined],
    ["[]a]", undefined],
    ["[", "missing closing ]: `[`"],
    ["a(", "missing closing ): `a(`"],
    ["a)", "unexpected ): `a)`"],
    ["*a", "missing argument to repetition operator: `*`"],
    ["a**", "invalid nested repetition operator: `**`"],
    ["a{1001}", "invalid repeat count: `{1001}`"],
    ["(?!a)b", "invalid or unsupported Perl syntax: `(?!`"],
    ["\\1", "invalid escape sequence: `\\1`"],
    ["\\", "trailing backslash at end of expression: ``"],
    ["((a{1,100}){1,100})b", "invalid repeat count: `{1,100}`"],
    ["[[:none:]]", "invalid character class range: `[:none:]`"],
    ["(?<=a)b", "invalid named capture: `(?<=a)b`"],
    ["[z-a]", "invalid character class range: `z-a`"],
  ];
  for (const [expression, fault] of table)
    assert.equal(regExpFault(expression), fault === undefined ? undefined : `error parsing regexp: ${fault}`, expression);
});
