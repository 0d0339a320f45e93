import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exactFieldValue, fieldSelectorText, matchesFields, parseFieldSelector } from "./field-selector.ts";

describe("parseFieldSelector", () => {
  const fields = { "metadata.name": "a", "spec.x": "p,q=r\\s" };
  const cases: [text: string, matches: boolean, canonical: string][] = [
    ["", true, ""],
    [",", true, ""],
    ["metadata.name=a", true, "metadata.name=a"],
    ["metadata.name==a,", true, "metadata.name=a"],
    ["metadata.name!=a", false, "metadata.name!=a"],
    ["metadata.name=", false, "metadata.name="],
    ["absent=", true, "absent="],
    ["spec.x=p\\,q\\=r\\\\s,metadata.name=a", true, "metadata.name=a,spec.x=p\\,q\\=r\\\\s"],
    ["metadata.name= a", false, "metadata.name= a"],
  ];
  for (const [text, matches, canonical] of cases) {
    it(JSON.stringify(text), () => {
      const selector = parseFieldSelector(text);
      assert.equal(matchesFields(selector, fields), matches);
      assert.equal(fieldSelectorText(selector), canonical);
    });
  }

  const refused: [text: string, message: string][] = [
    ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ["metadata.name in (a)", "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"],
    ["metadata.name=a=b", "invalid field selector: unescaped character in value: 61"],
    ["metadata.name=a\\xb", "invalid field selector: invalid escape sequence: \\x"],
    ["metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"],
  ];
  for (const [text, message] of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseFieldSelector(text), { name: "SelectorError", message });
    });
  }
});

it("exactFieldValue finds what a field must be", () => {
  const selector = parseFieldSelector("metadata.name=a,metadata.namespace!=b");
  assert.equal(exactFieldValue(selector, "metadata.name"), "a");
  assert.equal(exactFieldValue(selector, "metadata.namespace"), undefined);
});
