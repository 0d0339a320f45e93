/** SelfSubjectRulesReview: all that the caller may do in a namespace (`kubectl auth can-i --list`). */
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { badRequestError } from "../../apimachinery/status.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestContext } from "../request-context.ts";

/** An authorizer that can list what it would allow. */
export interface RuleSource {
  /** Names of roles that are missing go to `missing`. */
  rulesFor(user: UserInfo, namespace: string, missing: string[]): Iterable<{ readonly rule: PolicyRule }>;
  /** Says for each authorizer that has no rules to list for this user that it has none; absent where all have. */
  unresolved?(user: UserInfo): readonly string[];
}

export function reviewOwnRules(object: KubeObject, context: RequestContext): KubeObject {
  const namespace = (object["spec"] as { namespace?: string } | undefined)?.namespace ?? "";
  if (namespace === "") throw badRequestError("no namespace on request");
  const resourceRules: object[] = [];
  const nonResourceRules: object[] = [];
  const unresolved = context.server.ruleSource.unresolved?.(context.user) ?? [];
  const errors: string[] = [...unresolved];
  for (const { rule } of context.server.ruleSource.rulesFor(context.user, namespace, errors)) {
    const { verbs, apiGroups, resources = [], resourceNames, nonResourceURLs = [] } = rule;
    if (resources.length > 0) resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames !== undefined && { resourceNames }) });
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  const { apiVersion, kind } = object;
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: {},
    spec: {},
    status: {
      resourceRules,
      nonResourceRules,
      incomplete: unresolved.length > 0,
      ...(errors.length > 0 && { evaluationError: errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]` }),
    },
  };
}
