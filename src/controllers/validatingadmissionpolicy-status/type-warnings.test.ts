import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { typeWarnings } from "./type-warnings.ts";

const rule = (group: string, ...resources: string[]) => ({ resourceRules: [{ apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE"], resources }] });

const cases: readonly [
  what: string,
  constraints: object,
  validation: { expression: string; messageExpression?: string },
  expected: [fieldRef: string, warning: string][],
][] = [
  ["nothing wrong", rule("apps", "deployments"), { expression: "object.spec.replicas > 1" }, []],
  [
    "a field that is not there",
    rule("apps", "deployments", "statefulsets"),
    { expression: "object.spec.strategy.type == 'x'" },
    [
      [
        "spec.validations[0].expression",
        "apps/v1, Kind=StatefulSet: ERROR: <input>:1:12: undefined field 'strategy'\n | object.spec.strategy.type == 'x'\n | ...........^\n",
      ],
    ],
  ],
  [
    "in a message",
    rule("apps", "deployments"),
    { expression: "true", messageExpression: "object.nope" },
    [["spec.validations[0].messageExpression", "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'nope'\n | object.nope\n | ......^\n"]],
  ],
  ["wildcards", rule("*", "*"), { expression: "object.spec.nothing == 1" }, []],
];

test("type checks of policies", () => {
  for (const [what, matchConstraints, validation, expected] of cases) {
    deepEqual(
      typeWarnings({ matchConstraints, validations: [validation] }, []).map(({ fieldRef, warning }) => [fieldRef, warning]),
      expected,
      what,
    );
  }
});
