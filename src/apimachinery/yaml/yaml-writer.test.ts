import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { load } from "js-yaml";
import { rawNumber } from "../json.ts";
import type { JsonValue } from "../json.ts";
import { jsonToYaml } from "./yaml-writer.ts";

test("YAML: structure", () => {
  const table: [value: JsonValue, expected: string][] = [
    [{}, "{}\n"],
    [[], "[]\n"],
    [{ b: 1, a: { d: [], c: {} } }, "a:\n  c: {}\n  d: []\nb: 1\n"],
    [{ list: [{ b: 1, a: 2 }, [1, [2]], "x", {}] }, "list:\n- a: 2\n  b: 1\n- - 1\n  - - 2\n- x\n- {}\n"],
    [{ a10: 1, a9: 1, B: 1, a: 1, "a-b": 1 }, "B: 1\na: 1\na-b: 1\na9: 1\na10: 1\n"],
    [null, "null\n"],
    [{ a: { ["k".repeat(129)]: { b: 1, c: [2] }, ["k".repeat(128)]: 1 } }, `a:\n  ${"k".repeat(128)}: 1\n  ? ${"k".repeat(129)}\n  : b: 1\n    c:\n    - 2\n`],
    [{ "a\nb": [1, 2], c: {} }, "? |-\n  a\n  b\n: - 1\n  - 2\nc: {}\n"],
  ];
  for (const [value, expected] of table) equal(jsonToYaml(value), expected);
});

test("YAML: scalars", () => {
  const table: [value: JsonValue, expected: string][] = [
    ["text", "text"],
    ["", '""'],
    ["yes", '"yes"'],
    ["~", '"~"'],
    ["1", '"1"'],
    ["1.5e3", '"1.5e3"'],
    ["0x1F", '"0x1F"'],
    ["1:30", '"1:30"'],
    ["2026-01-01", '"2026-01-01"'],
    ["2026-01-01T00:00:00Z", '"2026-01-01T00:00:00Z"'],
    ["1.2.3", "1.2.3"],
    ["- a", "'- a'"],
    ["-a", "-a"],
    ["a: b", "'a: b'"],
    ["a:b", "a:b"],
    ["a #b", "'a #b'"],
    ["#b", "'#b'"],
    ["it's: x", "'it''s: x'"],
    ["*", "'*'"],
    [" lead", "' lead'"],
    ["bell\x07", '"bell\\a"'],
    ["ü", "ü"],
    ["😀", '"\\U0001F600"'],
    [true, "true"],
    [-3, "-3"],
    [1.5, "1.5"],
    [rawNumber("1.0"), "1"],
    [rawNumber("0.0"), "0"],
    [rawNumber("1e5"), "100000"],
    [rawNumber("1e6"), "1e+06"],
    [1234567, "1234567"],
    [1234567.5, "1.2345675e+06"],
    [0.0001, "0.0001"],
    [rawNumber("9223372036854775807"), "9223372036854775807"],
    [rawNumber("18446744073709551615"), "18446744073709551615"],
    [rawNumber("18446744073709551616"), "1.8446744073709552e+19"],
    [1e21, "1e+21"],
    [0.00001, "1e-05"],
  ];
  for (const [value, expected] of table) equal(jsonToYaml({ a: value }), `a: ${expected}\n`, JSON.stringify(value));
});

test("YAML: several lines", () => {
  const table: [text: string, expected: string][] = [
    ["a\nb", "a: |-\n  a\n  b\n"],
    ["a\nb\n", "a: |\n  a\n  b\n"],
    ["a\n\nb\n", "a: |\n  a\n\n  b\n"],
    ["a\n\n", "a: |+\n  a\n\n"],
    ["  a\nb", "a: |2-\n    a\n  b\n"],
  ];
  for (const [text, expected] of table) equal(jsonToYaml({ a: text }), expected, JSON.stringify(text));
});

test("YAML: what was written is read back", () => {
  const texts = [
    "",
    " ",
    "\n",
    "\n\n",
    "a\n ",
    "\ta\nb",
    "a\tb",
    "a: ",
    ":",
    "?",
    "? a",
    "-",
    "--- a",
    "...",
    "%a",
    "@a",
    "`a",
    "|",
    ">",
    "!x",
    "&a",
    "{a",
    "[a",
    "]",
    ",a",
    "=",
    "<<",
    "null",
    "0o7",
    "07",
    "+1",
    ".5",
    "-.inf",
    "a\r\nb",
    "\u0085",
    "\u2028",
    "\ufeffx",
    "a'b",
    'a"b',
    "a\\b",
    " a\n b\n",
    "x\n\n\n",
    "a #",
    "k:\n  v",
    "😀\n\x01",
  ];
  const value: JsonValue = Object.fromEntries(texts.map((text, index) => [`k${index}`, [text, { [text]: text }]]));
  // A key "<<" merges for readers of YAML 1.1 unless it is quoted, which the writer does.
  deepEqual(load(jsonToYaml(value)), value);
});

test("YAML: depth costs no stack", () => {
  let value: JsonValue = 1;
  for (let depth = 0; depth < 2000; depth++) value = depth % 2 === 0 ? [value] : { a: value };
  equal(jsonToYaml(value).endsWith(" 1\n"), true);
});
