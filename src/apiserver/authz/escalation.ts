/** Nobody hands out rights that they do not hold (documentation page "RBAC: Privilege escalation prevention and bootstrapping"). */
import type { ClusterRole, PolicyRule, RoleBinding } from "../../api/rbac-v1/types.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { forbiddenError, notFoundError } from "../../apimachinery/status.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../admission/chain.ts";
import { describeRights, listText, missingRights } from "./rule-coverage.ts";
import type { ResourceAttributes } from "./authorizer.ts";

const group = "rbac.authorization.k8s.io";

/** Reads the rules of users and roles; the RBAC authorizer does. */
export interface RuleResolver {
  /** Errors (roles that are missing) go to `missing`. */
  rulesFor(user: AdmissionRequest["context"]["user"], namespace: string, missing?: string[]): Iterable<{ readonly rule: PolicyRule }>;
  /** The rules of a role, or undefined when there is no such role. */
  rulesOfRole(reference: { readonly kind: string; readonly name: string }, namespace: string): readonly PolicyRule[] | undefined;
}

/** Always on: part of what it means to store a role. Runs after all mutating plugins. */
export function escalationCheck(resolver: RuleResolver): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    operations: new Set(["CREATE", "UPDATE"]),
    resources: new Set(["roles", "clusterroles", "rolebindings", "clusterrolebindings"].map((resource) => `${group}/${resource}`)),
    async mutate(request) {
      if (request.context.user.groups.includes("system:masters")) return;
      if (request.oldObject !== undefined && onlyMarksForCollection(request.object!, request.oldObject)) return;
      if (request.definition.resource.endsWith("bindings")) await checkBinding(request, resolver);
      else await checkRole(request, resolver);
    },
  };
}

const fullAuthority: readonly PolicyRule[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

async function checkRole(request: AdmissionRequest, resolver: RuleResolver): Promise<void> {
  const { definition, namespace, context } = request;
  const { resource } = definition;
  if (await isAllowed(request, { verb: "escalate", resource, namespace, name: context.info.name })) return;
  const role = request.object as unknown as ClusterRole;
  const hasAggregation = (object: KubeObject | undefined) =>
    ((object as unknown as ClusterRole | undefined)?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
  if (hasAggregation(request.object) || hasAggregation(request.oldObject)) {
    if (fault(request, resolver, fullAuthority) !== undefined)
      throw forbiddenError(definition, role.metadata.name ?? "", "must have cluster-admin privileges to use the aggregationRule");
  }
  refuseWith(request, fault(request, resolver, role.rules ?? []));
}

async function checkBinding(request: AdmissionRequest, resolver: RuleResolver): Promise<void> {
  const { roleRef } = request.object as unknown as RoleBinding;
  const { kind, name } = roleRef;
  const resource = kind === "ClusterRole" ? "clusterroles" : "roles";
  if (await isAllowed(request, { verb: "bind", resource, namespace: request.namespace, name })) return;
  const rules = resolver.rulesOfRole(roleRef, request.namespace);
  if (rules === undefined) throw notFoundError(request.definition, name);
  refuseWith(request, fault(request, resolver, rules));
}

async function isAllowed({ context }: AdmissionRequest, asked: Pick<ResourceAttributes, "verb" | "resource" | "namespace" | "name">): Promise<boolean> {
  const decision = await context.server.authorizer.authorize({ kind: "resource", user: context.user, group, version: "*", subresource: "", ...asked });
  return decision.verdict === "allow";
}

/** Why the user may not grant `rules`. */
function fault({ context, namespace }: AdmissionRequest, resolver: RuleResolver, rules: readonly PolicyRule[]): string | undefined {
  const { username, groups } = context.user;
  const unresolved: string[] = [];
  const owned = [...resolver.rulesFor(context.user, namespace, unresolved)].map(({ rule }) => rule);
  const missing = missingRights(owned, rules);
  if (missing.length === 0) return undefined;
  const resolution = unresolved.length === 0 ? "" : `; resolution errors: [${unresolved.length === 1 ? unresolved[0] : `[${unresolved.join(", ")}]`}]`;
  return `user ${JSON.stringify(username)} (groups=${listText(groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRights(missing)}${resolution}`;
}

function refuseWith({ definition, object }: AdmissionRequest, detail: string | undefined): void {
  if (detail !== undefined) throw forbiddenError(definition, object!.metadata.name ?? "", detail);
}

const collectorFields = ["ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation"] as const;

/** Whether an update changes nothing but owners and finalizers, as the garbage collector does. */
function onlyMarksForCollection(object: KubeObject, old: KubeObject): boolean {
  const bare = (source: KubeObject) => {
    const metadata = { ...source.metadata };
    for (const name of collectorFields) delete metadata[name];
    return { ...source, metadata };
  };
  const isChanged =
    !deepEqual(object.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? []) ||
    !deepEqual(object.metadata.finalizers ?? [], old.metadata.finalizers ?? []);
  return isChanged && deepEqual(bare(object), bare(old));
}
