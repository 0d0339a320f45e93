import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { readSelectors, validateSelectors } from "./review-selectors.ts";

test("rules of selectors", () => {
  const table: [fieldSelector: object, faults: string[]][] = [
    [{ rawSelector: "a=b" }, []],
    [{}, ["s.fieldSelector.requirements: Required value: when s.fieldSelector is specified, requirements or rawSelector is required"]],
    [
      { rawSelector: "a=b", requirements: [{ key: "a", operator: "In", values: ["b"] }] },
      ['s.fieldSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements'],
    ],
    [
      { requirements: [{ key: "a", operator: "In" }] },
      ["s.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
    ],
  ];
  for (const [fieldSelector, faults] of table) assert.deepEqual(validateSelectors({ fieldSelector }, FieldPath.root("s")).map(fieldErrorText), faults);
  assert.deepEqual(
    validateSelectors({ labelSelector: { requirements: [{ key: "a", operator: "Exists", values: ["b"] }] } }, FieldPath.root("s")).map(({ field }) => field),
    ["s.labelSelector.requirements[0].values"],
  );
});

test("selectors that cannot be read are left out", () => {
  assert.deepEqual(readSelectors({ fieldSelector: { rawSelector: "spec.nodeName=n" } }), {
    fieldSelector: [{ field: "spec.nodeName", isEqual: true, value: "n" }],
    errors: [],
  });
  assert.deepEqual(readSelectors({ fieldSelector: { rawSelector: "a=b=c,," }, labelSelector: { rawSelector: "a in (" } }).errors, [
    "spec.resourceAttributes.fieldSelector ignored due to parse error",
    "spec.resourceAttributes.labelSelector ignored due to parse error",
  ]);
  assert.deepEqual(readSelectors({ fieldSelector: { requirements: [{ key: "a", operator: "In", values: ["b", "c"] }] } }).errors.length, 1);
});
