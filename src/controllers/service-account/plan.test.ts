import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { StatusError } from "../../apimachinery/status.ts";
import { planServiceAccounts } from "./plan.ts";
import type { CreateAction } from "../../operator/index.ts";
import type { ServiceAccount } from "../../api/core-v1/types.ts";

const account = (name: string): ServiceAccount => ({ metadata: { name, namespace: "web" } });
const cases: { name: string; phase?: string; accounts: ServiceAccount[]; expect: unknown[] }[] = [
  { name: "none yet", accounts: [], expect: [account("default")] },
  { name: "only others", accounts: [account("builder")], expect: [account("default")] },
  { name: "there already", accounts: [account("default"), account("builder")], expect: [] },
  { name: "a namespace that is going", phase: "Terminating", accounts: [], expect: [] },
];

for (const { name, phase = "Active", accounts, expect } of cases) {
  test(`service accounts: ${name}`, () => {
    const plan = planServiceAccounts({ namespace: { metadata: { name: "web" }, status: { phase } }, accounts });
    deepEqual(
      plan.actions.map((action) => (action as CreateAction).object),
      expect,
    );
  });
}

const refusals: [name: string, error: StatusError, severity: string][] = [
  ["the namespace is going", new StatusError({ reason: "Forbidden", code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } }), "ignore"],
  ["quota", new StatusError({ reason: "Forbidden", code: 403 }), "continue"],
];

for (const [name, error, severity] of refusals) {
  test(`service accounts: creation refused, ${name}`, () => {
    const plan = planServiceAccounts({ namespace: { metadata: { name: "web" }, status: { phase: "Active" } }, accounts: [] });
    const { onError } = plan.actions[0] as CreateAction;
    deepEqual(typeof onError === "function" && onError(error), { severity });
  });
}
