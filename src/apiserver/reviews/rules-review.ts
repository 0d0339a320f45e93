/** SelfSubjectRulesReview: all that the caller may do in a namespace (`kubectl auth can-i --list`). */
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { badRequestError } from "../../apimachinery/status.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestContext } from "../request-context.ts";

/** An authorizer that can list what it would allow. */
export interface RuleSource {
  rulesFor(user: UserInfo, namespace: string): Iterable<{ readonly rule: PolicyRule }>;
}

export function reviewOwnRules(object: KubeObject, context: RequestContext): KubeObject {
  const namespace = (object["spec"] as { namespace?: string } | undefined)?.namespace ?? "";
  if (namespace === "") throw badRequestError("no namespace on request");
  const resourceRules: object[] = [];
  const nonResourceRules: object[] = [];
  const isMaster = context.user.groups.includes("system:masters");
  if (isMaster) {
    resourceRules.push({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
    nonResourceRules.push({ verbs: ["*"], nonResourceURLs: ["*"] });
  }
  for (const { rule } of context.server.ruleSource.rulesFor(context.user, namespace)) {
    if ((rule.resources ?? []).length > 0) {
      const { verbs, apiGroups, resources, resourceNames } = rule;
      resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames !== undefined && { resourceNames }) });
    }
    if ((rule.nonResourceURLs ?? []).length > 0) nonResourceRules.push({ verbs: rule.verbs, nonResourceURLs: rule.nonResourceURLs });
  }
  return { ...object, status: { resourceRules, nonResourceRules, incomplete: false } };
}
