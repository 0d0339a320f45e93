/** ResourceQuota: objects are charged to their namespace's quotas before they are written (documentation page "Resource Quotas"). */
import type { ScopedResourceSelectorRequirement } from "../../../api/core-v1/types.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import type { ServerState } from "../../server-state.ts";
import { definitionKey } from "../chain.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import type { Amounts } from "../pods/pod-resources.ts";
import { refuse } from "../refuse.ts";
import type { Charge } from "./charge.ts";
import { QuotaLedger } from "./ledger.ts";
import { isInScope, scopesOf } from "./scopes.ts";
import { evaluatorFor } from "./usage.ts";
import { findObjects } from "../../registry/rule-context.ts";

/** Of API type resourcequota.admission.k8s.io Configuration. */
export interface LimitedResource {
  readonly apiGroup?: string;
  readonly resource: string;
  readonly matchContains?: readonly string[];
  readonly matchScopes?: readonly ScopedResourceSelectorRequirement[];
}

export function resourceQuota(configuration: { readonly limitedResources?: readonly LimitedResource[] } = {}): AdmissionPlugin {
  const ledgers = new WeakMap<ServerState, QuotaLedger>();
  const limited = configuration.limitedResources ?? [];
  return {
    name: "ResourceQuota",
    operations: new Set(["CREATE", "UPDATE"]),
    validate(request) {
      const charge = chargeOf(request, limited);
      if (charge === undefined) return undefined;
      const { server } = request.context;
      checkScopes(request, charge, limited);
      let ledger = ledgers.get(server);
      if (ledger === undefined) ledgers.set(server, (ledger = new QuotaLedger(server)));
      return ledger.charge(request.namespace, charge, { isDryRun: request.isDryRun, refuse: (reason) => refuse(request, reason) });
    },
  };
}

/** Undefined when the request cannot touch a quota: the common case, decided without reading objects. */
function chargeOf(request: AdmissionRequest, limited: readonly LimitedResource[]): Charge | undefined {
  const { definition, namespace, operation, subresource, object, oldObject, context } = request;
  if (namespace === "" || object === undefined || (subresource !== "" && subresource !== "resize")) return undefined;
  if (!definition.isNamespaced) return undefined;
  const own = limited.filter(({ apiGroup = "", resource }) => apiGroup === definition.group && resource === definition.resource);
  if (own.length === 0 && !hasQuota(context.server, namespace)) return undefined;
  const evaluator = evaluatorFor(definition.group, definition.resource);
  if (evaluator === undefined || !evaluator.handles(operation, subresource)) return undefined;
  const mustBeCovered = (usage: Amounts) =>
    [...usage.keys()].filter((name) => own.some(({ matchContains = [] }) => matchContains.some((part) => name.includes(part)))).sort();
  return { resource: definitionKey(definition), evaluator, object, oldObject, mustBeCovered };
}

/** Objects in a limited scope need a quota of that scope. */
function checkScopes(request: AdmissionRequest, { resource, object }: Charge, limited: readonly LimitedResource[]): void {
  const wanted = limited.flatMap(({ apiGroup = "", resource: name, matchScopes = [] }) =>
    `${apiGroup}/${name}` === resource ? matchScopes.filter((scope) => isInScope(resource, object, scope)) : [],
  );
  if (wanted.length === 0) return;
  const present = findObjects(request.context.server, "/resourcequotas", request.namespace)
    .flatMap((quota) => scopesOf(quota as never))
    .filter((scope) => isInScope(resource, object, scope));
  const missing = wanted.filter(({ scopeName }) => !present.some((scope) => scope.scopeName === scopeName));
  if (missing.length === 0) return;
  const text = missing.map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(" ")}]}`).join(" ");
  throw new StatusError({ message: `insufficient quota to match these scopes: [${text}]`, code: 500 });
}

function hasQuota(server: ServerState, namespace: string): boolean {
  return server.resources.find("", "v1", "resourcequotas")!.storage!.cache.state.countPrefixed(`${namespace}/`) > 0;
}
