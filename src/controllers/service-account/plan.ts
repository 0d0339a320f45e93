import { isNamespaceTerminating, resources } from "../../client/index.ts";
import { createAction, nothingToDo } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Namespace, ServiceAccount } from "../../api/core-v1/types.ts";
import type { ErrorDecision, Plan } from "../../operator/index.ts";

/** Every active namespace has the ServiceAccounts named here (documentation page "Managing Service Accounts"). */
export function planServiceAccounts({ namespace, accounts }: ServiceAccountSnapshot): Plan {
  if (namespace.status?.phase !== "Active") return nothingToDo;
  const name = namespace.metadata.name ?? "";
  const missing = ensuredAccounts.filter((account) => !accounts.some(({ metadata }) => metadata.name === account));
  return {
    actions: missing.map((account) =>
      createAction(resources.serviceAccounts, { metadata: { name: account, namespace: name } }, { onError: whenCreationFails }),
    ),
    reasons: missing.map((account) => `namespace ${name} has no service account ${account}`),
  };
}

export interface ServiceAccountSnapshot {
  readonly namespace: DeepReadonly<Namespace>;
  /** Of that namespace. */
  readonly accounts: readonly DeepReadonly<ServiceAccount>[];
}

const ensuredAccounts = ["default"];

/** One that cannot be made does not keep the others from being made. */
function whenCreationFails(error: Error): ErrorDecision {
  return { severity: isNamespaceTerminating(error) ? "ignore" : "continue" };
}
