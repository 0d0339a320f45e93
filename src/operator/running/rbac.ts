/** The rights that an operator needs, from what its definition uses. Pure. */
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { ResourceType } from "../../client/index.ts";
import type { OperatorDefinition } from "./define-operator.ts";

export interface OperatorRights {
  /** Where its objects are: in every namespace, or in the operator's only one. */
  readonly work: readonly PolicyRule[];
  /** On cluster-scoped objects. */
  readonly cluster: readonly PolicyRule[];
  /** In the operator's own namespace: its lease, its certificates. */
  readonly own: readonly PolicyRule[];
}

const follow = ["get", "list", "watch"];

export function rightsOf({ name, reconcilers, webhooks, definitions, permissions }: OperatorDefinition): OperatorRights {
  const work: PolicyRule[] = [];
  const cluster: PolicyRule[] = [];
  const grant = (resource: ResourceType, verbs: readonly string[], subresource?: string) =>
    (resource.isNamespaced ? work : cluster).push({
      apiGroups: [resource.group],
      resources: [subresource === undefined ? resource.resource : `${resource.resource}/${subresource}`],
      verbs: [...verbs],
    });
  for (const { resource, owned, watched } of reconcilers) {
    grant(resource, [...follow, "patch"]);
    grant(resource, ["patch"], "status");
    grant(resource, ["update"], "finalizers");
    for (const child of owned) grant(child, [...follow, "create", "patch", "delete"]);
    for (const other of watched) grant(other, follow);
  }
  if (reconcilers.length > 0) work.push({ apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] });
  work.push(...permissions);
  if (definitions.length > 0)
    cluster.push(
      ...installing(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        definitions.map(({ definition }) => definition.metadata.name ?? ""),
        follow,
      ),
    );
  for (const kind of ["validating", "mutating"] as const) {
    if (webhooks.some((webhook) => webhook.kind === kind))
      cluster.push(...installing("admissionregistration.k8s.io", `${kind}webhookconfigurations`, [name], ["get"]));
  }
  const own: PolicyRule[] = [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] }];
  if (webhooks.length > 0 || definitions.some(({ versions }) => versions.length > 0))
    own.push({ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "update"] });
  return { work: merged(work), cluster: merged(cluster), own };
}

/** Names can be told for what exists, not for creations; watches of one name are told it too. */
function installing(group: string, resource: string, names: readonly string[], verbs: readonly string[]): PolicyRule[] {
  const rule = { apiGroups: [group], resources: [resource] };
  return [
    { ...rule, verbs: ["create"] },
    { ...rule, resourceNames: [...names], verbs: [...verbs, "patch"] },
  ];
}

/** One rule per resource, with all its verbs, in order of first use. */
function merged(rules: readonly PolicyRule[]): PolicyRule[] {
  const byKey = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames ?? [], rule.nonResourceURLs ?? []]);
    const known = byKey.get(key);
    byKey.set(key, { ...rule, verbs: [...new Set([...(known?.verbs ?? []), ...(rule.verbs ?? [])])] });
  }
  return [...byKey.values()];
}
