import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText, invalid } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { mutatingAdmissionPolicies } from "./mutating-policy.ts";
import { validatingAdmissionPolicyBindings } from "./policy-bindings.ts";
import { validatingAdmissionPolicies } from "./validating-policy.ts";
import { validatingWebhookConfigurations } from "./webhooks.ts";
import type { ValidatingWebhook } from "./types.ts";

const context = {} as RuleContext;
const metadata = { name: "x" };
const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };

test("faults of webhooks", () => {
  const table: [change: Partial<ValidatingWebhook>, faults: string[]][] = [
    [{}, []],
    [{ name: "w" }, ['webhooks[0].name: Invalid value: "w": should be a domain with at least three segments separated by dots']],
    [
      { clientConfig: { url: "http://h" } },
      ["webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]"],
    ],
    [
      { rules: [{ ...rule, resources: ["pods/*", "pods/status"] }] },
      ["webhooks[0].rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status"],
    ],
    [{ sideEffects: "Some" }, ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"']],
    [{ admissionReviewVersions: ["v2"] }, ['webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1']],
  ];
  for (const [change, expected] of table) {
    const webhook: ValidatingWebhook = {
      name: "w.example.com",
      clientConfig: { url: "https://h" },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      rules: [rule],
      ...change,
    };
    const configuration = { metadata, webhooks: [webhook] };
    validatingWebhookConfigurations.defaults!(configuration, 0);
    assert.deepEqual(validatingWebhookConfigurations.create.validate!(configuration, context).map(fieldErrorText), expected, JSON.stringify(change));
  }
});

test("expressions are compiled with what stands before them", () => {
  const seen: string[] = [];
  const compiling = {
    checkExpression: ({ expression, variables, hasParams }, path) => (
      seen.push(`${expression} ${variables.length} ${hasParams}`),
      expression === "bad" ? [invalid(path, expression, "no")] : []
    ),
  } as RuleContext;
  const spec = {
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConstraints: { resourceRules: [rule] },
    variables: [
      { name: "v", expression: "1" },
      { name: "w", expression: "2" },
    ],
    validations: [{ expression: "bad" }],
  };
  const policy = { metadata, spec };
  validatingAdmissionPolicies.defaults!(policy, 0);
  assert.deepEqual(validatingAdmissionPolicies.create.validate!(policy, compiling).map(fieldErrorText), [
    'spec.validations[0].expression: Invalid value: "bad": no',
  ]);
  assert.deepEqual(seen, ["1 0 true", "2 1 true", "bad 2 true"]);
});

test("faults of policies and bindings", () => {
  const policy = { metadata, spec: { reinvocationPolicy: "Never", matchConstraints: { resourceRules: [rule] }, mutations: [{ patchType: "JSONPatch" }] } };
  mutatingAdmissionPolicies.defaults!(policy, 0);
  assert.deepEqual(mutatingAdmissionPolicies.create.validate!(policy, context).map(fieldErrorText), [
    "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
  ]);
  const binding = { metadata, spec: { policyName: "p", validationActions: ["Deny", "Deny"] } };
  assert.deepEqual(validatingAdmissionPolicyBindings.create.validate!(binding, context).map(fieldErrorText), [
    'spec.validationActions[1]: Duplicate value: "Deny"',
  ]);
});
