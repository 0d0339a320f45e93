import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { clusterRoles } from "./clusterrole.ts";
import { clusterRoleBindings } from "./clusterrolebinding.ts";
import { roles } from "./role.ts";
import { roleBindings } from "./rolebinding.ts";
import type { ClusterRole, PolicyRule, RoleBinding } from "./types.ts";

const context = {} as RuleContext;
const metadata = { name: "x" };

test("rules of roles", () => {
  const table: [rule: PolicyRule, faults: string[]][] = [
    [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }, []],
    [
      {},
      [
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
        "rules[0].verbs: Required value",
      ],
    ],
    [{ nonResourceURLs: ["/x"], verbs: ["get"] }, ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs']],
  ];
  for (const [rule, faults] of table) assert.deepEqual(roles.create.validate?.({ metadata, rules: [rule] }, context).map(fieldErrorText), faults);
});

test("cluster roles gather by selectors", () => {
  const faults = (role: ClusterRole) => clusterRoles.create.validate?.(role, context).map(fieldErrorText);
  assert.deepEqual(faults({ metadata, rules: [{ nonResourceURLs: ["/healthz"], verbs: ["get"] }] }), []);
  assert.deepEqual(faults({ metadata, aggregationRule: {} }), [
    "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
  ]);
  assert.equal(
    faults({ metadata, aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "In" }] }] } })?.at(-1),
    "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
  );
});

test("bindings get groups by default and keep their role", () => {
  const binding: RoleBinding = {
    metadata,
    roleRef: { kind: "Role", name: "r" },
    subjects: [
      { kind: "User", name: "u" },
      { kind: "ServiceAccount", name: "s" },
    ],
  };
  roleBindings.defaults?.(binding, 0);
  assert.deepEqual(
    [binding.roleRef.apiGroup, ...binding.subjects!.map(({ apiGroup }) => apiGroup)],
    ["rbac.authorization.k8s.io", "rbac.authorization.k8s.io", undefined],
  );
  assert.deepEqual(roleBindings.create.validate?.(binding, context), []);
  assert.deepEqual(clusterRoleBindings.create.validate?.(binding, context).map(fieldErrorText), [
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    "subjects[1].namespace: Required value",
  ]);
  const changed = { ...binding, roleRef: { ...binding.roleRef, name: "z" } };
  assert.deepEqual(roleBindings.update.validate?.(changed, binding, context).map(fieldErrorText), [
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"z"}: field is immutable',
  ]);
});
