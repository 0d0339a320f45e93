import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { labelSelectorText, matchesLabels, parseLabelSelector, selectorFromLabels, selectorFromObject } from "./label-selector.ts";

const labelled: Record<string, Record<string, string>> = {
  a: { app: "x", tier: "front", n: "1" },
  b: { app: "y", tier: "back", n: "10" },
  c: { app: "x", "e.com/k": "v", empty: "" },
  d: {},
};
const selected = (selector: Parameters<typeof matchesLabels>[0]) =>
  Object.keys(labelled)
    .filter((name) => matchesLabels(selector, labelled[name]))
    .join("");

describe("parseLabelSelector", () => {
  const cases: [text: string, selected: string, canonical: string][] = [
    ["", "abcd", ""],
    [" ", "abcd", ""],
    ["app=x", "ac", "app=x"],
    ["app==x", "ac", "app==x"],
    ["app!=x", "bd", "app!=x"],
    ["app", "abc", "app"],
    ["! app", "d", "!app"],
    ["app in (x,y)", "abc", "app in (x,y)"],
    ["app notin ( y , x )", "d", "app notin (x,y)"],
    ["app in ()", "", "app in ()"],
    ["empty in ()", "c", "empty in ()"],
    ["app in (x,)", "ac", "app in (,x)"],
    ["app in (,x)", "ac", "app in (,x)"],
    ["empty=", "c", "empty="],
    ["tier,app=x", "a", "app=x,tier"],
    ["n>5", "b", "n>5"],
    ["n<100,n>1", "b", "n<100,n>1"],
    ["e.com/k in (v,w)", "c", "e.com/k in (v,w)"],
    ["in in (in)", "", "in in (in)"],
    ["app = in", "", "app=in"],
  ];
  for (const [text, names, canonical] of cases) {
    it(JSON.stringify(text), () => {
      const selector = parseLabelSelector(text);
      assert.equal(selected(selector), names);
      assert.equal(labelSelectorText(selector), canonical);
    });
  }

  const refused: [text: string, message: string | RegExp][] = [
    ["n>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
    ["n>=5", "unable to parse requirement: found '=', expected: identifier"],
    ["=x", "found '=', expected: !, identifier, or 'end of string'"],
    ["===", "found '==', expected: !, identifier, or 'end of string'"],
    ["app=x=y", "found '=', expected: ',' or 'end of string'"],
    ["app=x,", "found '', expected: identifier after ','"],
    [",app=x", "found ',', expected: !, identifier, or 'end of string'"],
    ["app x", "unable to parse requirement: found 'x', expected: in, notin, =, ==, !=, gt, lt"],
    ["app in x", "unable to parse requirement: found 'x' expected: '('"],
    ["app in (x", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["!app=x", "found '=', expected: ',' or 'end of string'"],
    ["!!app", "unable to parse requirement: found '!', expected: identifier"],
    ["/k=x", 'unable to parse requirement: <nil>: Invalid value: "/k": prefix part must be non-empty'],
    ["app=-x", /^unable to parse requirement: values\[0\]\[app\]: Invalid value: "-x": a valid label must be an empty string/],
    ["a/b/c=x", /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a valid label key must consist of/],
  ];
  for (const [text, message] of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseLabelSelector(text), { name: "SelectorError", message });
    });
  }
});

describe("selectorFromObject", () => {
  it("selects nothing when absent and everything when empty", () => {
    assert.equal(selected(selectorFromObject(undefined)), "");
    assert.equal(selected(selectorFromObject(null)), "");
    assert.equal(selected(selectorFromObject({})), "abcd");
  });

  it("takes labels and expressions together", () => {
    const selector = selectorFromObject({ matchLabels: { app: "x" }, matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] });
    assert.equal(selected(selector), "c");
    assert.equal(labelSelectorText(selector), "app=x,!tier");
  });

  it("refuses unknown operators and empty lists of values", () => {
    assert.throws(() => selectorFromObject({ matchExpressions: [{ key: "a", operator: "Near" }] }), {
      message: '"Near" is not a valid label selector operator',
    });
    assert.throws(() => selectorFromObject({ matchExpressions: [{ key: "a", operator: "In" }] }), {
      message: "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    });
  });
});

it("selectorFromLabels asks for every label", () => {
  assert.equal(selected(selectorFromLabels({ tier: "front", app: "x" })), "a");
  assert.equal(labelSelectorText(selectorFromLabels({ tier: "front", app: "x" })), "app=x,tier=front");
});
