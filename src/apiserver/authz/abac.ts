/** Attribute-based access control from a policy file, one JSON object a line (documentation page "Using ABAC Authorization"). */
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RuleSource } from "../reviews/rules-review.ts";
import { allowed } from "./authorizer.ts";
import type { AuthorizationAttributes, Authorizer } from "./authorizer.ts";

/** Throws an Error that names the line which cannot be read. */
export function abacAuthorizer(text: string): Authorizer & RuleSource {
  const policies = text.split("\n").flatMap((line, index) => readPolicy(line, index + 1));
  return {
    name: "abac",
    authorize: (attributes) => (policies.some((policy) => matches(policy, attributes)) ? allowed : { verdict: "no-opinion", reason: "No policy matched." }),
    rulesFor: (user, namespace) => policies.filter((policy) => matchesSubject(policy, user)).flatMap((policy) => rulesOf(policy, namespace)),
  };
}

/** API type abac.authorization.kubernetes.io/v1beta1 PolicySpec; absent matches nothing but the empty value. */
interface Policy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const readVerbs = new Set(["get", "list", "watch"]);

function readPolicy(line: string, number: number): Policy[] {
  const trimmed = line.trim();
  if (trimmed === "" || trimmed.startsWith("#")) return [];
  let read: { spec?: Partial<Policy> } & Partial<Policy>;
  try {
    read = JSON.parse(trimmed) as typeof read;
  } catch (error) {
    throw new Error(`error reading policy file, line ${number}: ${trimmed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const { user = "", group = "", apiGroup = "", resource = "", namespace = "", nonResourcePath = "", readonly = false } = read.spec ?? read;
  return [{ user, group, apiGroup, resource, namespace, nonResourcePath, readonly }];
}

function matches(policy: Policy, attributes: AuthorizationAttributes): boolean {
  return (
    matchesSubject(policy, attributes.user) &&
    (!policy.readonly || readVerbs.has(attributes.verb)) &&
    (attributes.kind === "resource" ? matchesResource(policy, attributes) : matchesPath(policy.nonResourcePath, attributes.path))
  );
}

/** Both user and group must match when both are given; a policy without either is for nobody. */
function matchesSubject({ user, group }: Policy, who: UserInfo): boolean {
  if (user === "" && group === "") return false;
  const isAuthenticated = who.groups.includes("system:authenticated");
  const isUser = user === "" || user === who.username || (user === "*" && isAuthenticated);
  const isGroup = group === "" || who.groups.includes(group) || (group === "*" && isAuthenticated);
  return isUser && isGroup;
}

/** A policy in the form of rules; as upstream lists them, paths too only for a policy of the namespace. */
function rulesOf({ apiGroup, resource, namespace, nonResourcePath, readonly }: Policy, asked: string): { readonly rule: PolicyRule }[] {
  const verbs = readonly ? [...readVerbs] : ["*"];
  if (namespace !== "*" && namespace !== asked) return [];
  return [
    ...(resource === "" ? [] : [{ rule: { verbs, apiGroups: [apiGroup], resources: [resource] } }]),
    ...(nonResourcePath === "" ? [] : [{ rule: { verbs, nonResourceURLs: [nonResourcePath] } }]),
  ];
}

function matchesResource(policy: Policy, { group, resource, namespace }: Extract<AuthorizationAttributes, { kind: "resource" }>): boolean {
  const isSame = (pattern: string, value: string) => pattern === "*" || pattern === value;
  return isSame(policy.namespace, namespace) && isSame(policy.resource, resource) && isSame(policy.apiGroup, group);
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
