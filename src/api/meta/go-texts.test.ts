import assert from "node:assert/strict";
import { test } from "node:test";
import { goRegexpFault } from "./go-regexp.ts";
import { parseGoUrl } from "./go-url.ts";

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
    ["[z-a]", "invalid character class range: `z-a`"],
  ];
  for (const [expression, fault] of table)
    assert.equal(goRegexpFault(expression), fault === undefined ? undefined : `error parsing regexp: ${fault}`, expression);
});

test("URLs as Go takes them apart", () => {
  assert.deepEqual(parseGoUrl("HTTPS://u@h:80/p?q#f"), { url: { scheme: "https", user: "u", host: "h:80", query: "q", fragment: "f" } });
  assert.deepEqual(parseGoUrl("h/p"), { url: { scheme: "", user: undefined, host: "", query: "", fragment: "" } });
  assert.deepEqual(parseGoUrl("::bad"), { fault: 'parse "::bad": missing protocol scheme' });
  assert.deepEqual(parseGoUrl("https://h:x"), { fault: 'parse "https://h:x": invalid port ":x" after host' });
  assert.deepEqual(parseGoUrl("https://h/%zz"), { fault: 'parse "https://h/%zz": invalid URL escape "%zz"' });
});
