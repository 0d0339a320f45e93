import assert from "node:assert/strict";
import { test } from "node:test";
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import { describeRights, missingRights } from "./rule-coverage.ts";

const rule = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]): PolicyRule => ({
  apiGroups,
  resources,
  verbs,
  ...(resourceNames !== undefined && { resourceNames }),
});

test("what is missing, and how it is told", () => {
  const table: [owned: PolicyRule[], wanted: PolicyRule[], told: string][] = [
    [[rule([""], ["pods"], ["*"])], [rule([""], ["pods"], ["get"])], ""],
    [[rule(["*"], ["*"], ["*"])], [rule(["apps"], ["deployments/scale"], ["update"])], ""],
    [[rule([""], ["*/status"], ["get"])], [rule([""], ["pods/status"], ["get"])], ""],
    [[rule([""], ["pods"], ["get"], ["a"])], [rule([""], ["pods"], ["get"])], '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
    [
      [rule([""], ["pods"], ["get"])],
      [rule([""], ["pods"], ["get", "list", "watch"], ["a"])],
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["list" "watch"]}',
    ],
    [[{ nonResourceURLs: ["/a/*"], verbs: ["get"] }], [{ nonResourceURLs: ["/a/b", "/c"], verbs: ["get"] }], '{NonResourceURLs:["/c"], Verbs:["get"]}'],
    [[], [rule([""], ["b", "a"], ["get"])], '{APIGroups:[""], Resources:["a"], Verbs:["get"]}\n{APIGroups:[""], Resources:["b"], Verbs:["get"]}'],
  ];
  for (const [owned, wanted, told] of table) assert.equal(describeRights(missingRights(owned, wanted)), told);
});
