import assert from "node:assert/strict";
import { test } from "node:test";
import { readYaml, yamlToJson } from "./yaml.ts";

const read = (text: string) => yamlToJson(Buffer.from(text));

test("plain words are those of YAML 1.1", () => {
  const rows: [text: string, value: unknown][] = [
    ["y", true],
    ["no", false],
    ["On", true],
    ["~", null],
    ["", null],
    ["NULL", null],
    ["nULL", "nULL"],
    ["0o7", 7],
    ["010", 8],
    ["08", 8],
    ["0x1F", 31],
    ["-0b11", -3],
    ["1_000", 1000],
    ["1e3", 1000],
    ["1.0", 1],
    [".5", 0.5],
    ["12:30", "12:30"],
    ["2020-01-01", "2020-01-01"],
    ["'5'", "5"],
    ["!!str 5", "5"],
    ['!!int "5"', 5],
    ["1e400", "1e400"],
    ["_1", "_1"],
  ];
  for (const [text, value] of rows) assert.deepEqual(read(`a: ${text}\n`), { a: value }, text);
});

test("structure", () => {
  const rows: [text: string, value: unknown][] = [
    ["b: 1\na: 2\n", { a: 2, b: 1 }],
    ["1: a\ntrue: b\n", { 1: "a", true: "b" }],
    ["a: &x {k: v}\nb: *x\n", { a: { k: "v" }, b: { k: "v" } }],
    ["a: &x {k: v}\nb:\n  <<: *x\n  j: w\n", { a: { k: "v" }, b: { j: "w", k: "v" } }],
    ["---\na: b\n---\nc: [\n", { a: "b" }],
    ["a: b\n...\nc: [\n", { a: "b" }],
    ["", null],
    ['{"a": 1}', { a: 1 }],
  ];
  for (const [text, value] of rows) assert.deepEqual(read(text), value, text);
});

test("duplicate keys are reported by line", () => {
  const { faults } = readYaml(Buffer.from("a: 1\na: 2\nb:\n  c: 1\n  c: 2\n"));
  assert.deepEqual(faults, ['yaml: unmarshal errors:\n  line 2: key "a" already set in map\n  line 5: key "c" already set in map']);
});

test("errors", () => {
  const rows: [text: string, message: string][] = [
    ["data:\n\tk: v\n", "yaml: line 2: found character that cannot start any token"],
    ["a: *nope\n", "yaml: unknown anchor 'nope' referenced"],
    ["a: [\n", "yaml: line 1: did not find expected node content"],
    ["a: [b", "yaml: line 1: did not find expected ',' or ']'"],
    ["key: [a, b\nc: d\n", "yaml: line 1: did not find expected ',' or ']'"],
    ["a: b: c\n", "yaml: mapping values are not allowed in this context"],
    ["a:\n  b: c\n   d: e\n", "yaml: line 3: mapping values are not allowed in this context"],
    ["a: b\nc\n", "yaml: line 3: could not find expected ':'"],
    ["a: 'x\n", "yaml: line 2: found unexpected end of stream"],
    ["- a\nb: c\n", "yaml: line 1: did not find expected '-' indicator"],
    ["a: @x\n", "yaml: found character that cannot start any token"],
    ["a: .inf\n", "json: unsupported value: +Inf"],
    ["~: x\n", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'],
  ];
  for (const [text, message] of rows) assert.throws(() => read(text), { name: "DecodeError", message }, text);
});

test("aliases may not multiply without end", () => {
  const levels = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
  for (let index = 1; index < 9; index++) {
    const [name, inner] = ["abcdefghi"[index], "abcdefghi"[index - 1]];
    levels.push(`${name}: &${name} [${Array(10).fill(`*${inner}`).join(", ")}]`);
  }
  assert.throws(() => read(`${levels.join("\n")}\n`), { message: "yaml: document contains excessive aliasing" });
});
