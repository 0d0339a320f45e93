import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { fixedPriorityLevels } from "./fixed-specs.ts";
import { flowSchemas } from "./flowschema.ts";
import { priorityLevelConfigurations } from "./prioritylevelconfiguration.ts";
import type { FlowSchema, PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from "./types.ts";

const context = {} as RuleContext;

test("flow schemas", () => {
  const schema: FlowSchema = {
    metadata: { name: "x" },
    spec: {
      priorityLevelConfiguration: { name: "" },
      rules: [{ subjects: [{ kind: "Group", user: { name: "u" } }], nonResourceRules: [{ verbs: ["sing"], nonResourceURLs: ["/x*y"] }] }],
    },
  };
  flowSchemas.defaults?.(schema, 0);
  assert.equal(schema.spec?.matchingPrecedence, 1000);
  assert.deepEqual(flowSchemas.create.validate?.(schema, context).map(fieldErrorText), [
    "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
    "spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
    "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
    'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["sing"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/x*y": wildcard can only do suffix matching',
  ]);
});

test("priority levels", () => {
  const faults = (name: string, spec: PriorityLevelConfigurationSpec) => {
    const level: PriorityLevelConfiguration = { metadata: { name }, spec: structuredClone(spec) };
    priorityLevelConfigurations.defaults?.(level, 0);
    return priorityLevelConfigurations.create.validate?.(level, context).map(fieldErrorText);
  };
  assert.deepEqual(faults("x", { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } }), []);
  assert.deepEqual(faults("x", { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 4, handSize: 5, queueLengthLimit: 1 } } } }), [
    "spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)",
  ]);
  assert.deepEqual(faults("x", { type: "", limited: { limitResponse: { type: "Reject" } } }), ["spec.limited: Forbidden", "spec.type: Required value"]);
  assert.deepEqual(faults("catch-all", fixedPriorityLevels.get("catch-all")!), []);
  assert.deepEqual(faults("exempt", { type: "Exempt", exempt: { lendablePercent: 50 } }), []);
  assert.deepEqual(faults("exempt", { type: "Limited", exempt: {} }), [
    "spec.type: Invalid value: \"Limited\": must be 'Exempt' if and only if `name` is 'exempt'",
    'spec: Invalid value: {"Type":"Limited","Limited":null,"Exempt":{"NominalConcurrencyShares":0,"LendablePercent":0}}: spec of \'exempt\' except the \'spec.exempt\' field must equal the fixed value',
    "spec.exempt: Forbidden",
    "spec.limited: Required value",
  ]);
});
