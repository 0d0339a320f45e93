/** Whether a flow schema is for a request (API type flowcontrol.apiserver.k8s.io/v1 FlowSchema). */
import type { FlowSchema, PolicyRulesWithSubjects, Subject } from "../../api/flowcontrol-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestInfo } from "../http/request-info.ts";

export function schemaMatches(schema: FlowSchema, user: UserInfo, info: RequestInfo): boolean {
  return (schema.spec?.rules ?? []).some((rule) => (rule.subjects ?? []).some((subject) => subjectMatches(subject, user)) && ruleMatches(rule, info));
}

function subjectMatches(subject: Subject, user: UserInfo): boolean {
  switch (subject.kind) {
    case "User":
      return subject.user?.name === "*" || subject.user?.name === user.username;
    case "Group":
      return subject.group?.name === "*" || user.groups.includes(subject.group?.name ?? "");
    case "ServiceAccount": {
      const { namespace, name } = subject.serviceAccount ?? {};
      if (name === "*") return user.username.startsWith(`system:serviceaccount:${namespace}:`);
      return user.username === `system:serviceaccount:${namespace}:${name}`;
    }
    default:
      return false;
  }
}

function ruleMatches(rule: PolicyRulesWithSubjects, info: RequestInfo): boolean {
  if (!info.isResourceRequest) {
    return (rule.nonResourceRules ?? []).some((candidate) => has(candidate.verbs, info.verb) && (candidate.nonResourceURLs ?? []).some((url) => pathMatches(url, info.path)));
  }
  const resource = info.subresource === "" ? info.resource : `${info.resource}/${info.subresource}`;
  return (rule.resourceRules ?? []).some(
    (candidate) =>
      has(candidate.verbs, info.verb) &&
      has(candidate.apiGroups, info.group) &&
      has(candidate.resources, resource) &&
      (info.namespace === "" ? candidate.clusterScope === true : has(candidate.namespaces, info.namespace)),
  );
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes("*") || list.includes(value));
}

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === "*") return true;
  return pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}
