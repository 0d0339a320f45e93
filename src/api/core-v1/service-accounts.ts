/** ServiceAccounts (API reference "ServiceAccount v1 core"). */
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import type { ServiceAccount } from "./types.ts";

const mountableKey = "kubernetes.io/enforce-mountable-secrets";
const mountableText = `metadata.annotations[${mountableKey}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;

export const serviceAccounts = defineKind<ServiceAccount>({
  gvk: { group: "", version: "v1", kind: "ServiceAccount" },
  nameRule: subdomainName,
  generation: "none",
  create: { prepare: keepNamesOnly, warnings: (account) => (isMarked(account) ? [mountableText] : []) },
  update: { prepare: keepNamesOnly, warnings: (account, old) => (isMarked(account) && !isMarked(old) ? [mountableText] : []) },
  delete: { answer: "object" },
});

/** References to secrets are names; all else in them is dropped. */
function keepNamesOnly(account: ServiceAccount): void {
  if (account.secrets !== undefined) account.secrets = account.secrets.map(({ name }) => ({ ...(name !== undefined && { name }) }));
}

function isMarked({ metadata }: ServiceAccount): boolean {
  return metadata.annotations?.[mountableKey] !== undefined;
}
