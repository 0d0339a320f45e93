import assert from "node:assert/strict";
import { it } from "node:test";
import { rawNumber } from "../json.ts";
import { goSyntax, goText } from "./go-text.ts";

it("prints values as Go does", () => {
  const value = { b: [1, "x", null, true], a: { n: 1.5, big: rawNumber("12345678901234567890") } };
  assert.equal(goText(value), "map[a:map[big:12345678901234567890 n:1.5] b:[1 x <nil> true]]");
  assert.equal(
    goSyntax(value),
    'map[string]interface {}{"a":map[string]interface {}{"big":12345678901234567890, "n":1.5}, "b":[]interface {}{1, "x", interface {}(nil), true}}',
  );
  assert.equal(goText([]), "[]");
  assert.equal(goText({}), "map[]");
  assert.equal(goText(1e-7), "1e-07");
});
