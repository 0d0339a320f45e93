import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { expressionErrors } from "./expression-check.ts";

const table = [
  { expression: `device.driver == "a"`, text: undefined },
  { expression: `dyn(device)`, text: undefined },
  { expression: `device.driver`, text: "must evaluate to bool or the unknown type, not string" },
  { expression: `device.attributes["a"].b.matches("^x") && device.attributes.exists(d, device.attributes[d].exists(n, n.startsWith("x")))`, text: undefined },
  { expression: `${"[1,2,3,4,5,6,7,8,9,10].all(a, ".repeat(7)}true${")".repeat(7)}`, text: "Forbidden: too complex, exceeds cost limit" },
  { expression: `1`, text: "must evaluate to bool or the unknown type, not int" },
];
for (const { expression, text } of table) {
  test(`a device selector ${expression} ${text === undefined ? "is right" : "is refused"}`, () => {
    const check = { expression, environment: "device", hasParams: false, hasAuthorizer: false, variables: [], returns: ["bool", "dyn"] } as const;
    const [error] = expressionErrors(check, FieldPath.root("expression"));
    assert.equal(error?.message.replace(/^Invalid value: ".*?": /, ""), text);
  });
}
