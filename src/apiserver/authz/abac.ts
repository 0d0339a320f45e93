/** Attribute-based access control from a policy file, one JSON object a line (documentation page "Using ABAC Authorization"). */
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RuleSource } from "../reviews/rules-review.ts";
import { DecodeError, unrecognizedText } from "../../apimachinery/decode/decode-object.ts";
import { decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { allowed } from "./authorizer.ts";
import type { AuthorizationAttributes, Authorizer } from "./authorizer.ts";

/** Throws an Error that names the line which cannot be read. */
export function abacAuthorizer(text: string, file = ""): Authorizer & RuleSource {
  const policies = text
    .split("\n")
    .flatMap((line, index) => readPolicy(line, (fault) => new Error(`error reading policy file ${file}, line ${index + 1}: ${line.trim()}: ${fault}`)));
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

const kinds: ReadonlySet<string> = new Set(["Policy"].map((kind) => `abac.authorization.kubernetes.io/v1beta1 ${kind}`));

/** Lines without a version are of the form before there were any. */
function readPolicy(line: string, failed: (fault: string) => Error): Policy[] {
  const trimmed = line.trim();
  if (trimmed === "" || trimmed.startsWith("#")) return [];
  const read = readLine(trimmed, failed);
  const { apiVersion = "", kind = "" } = read;
  if (apiVersion + kind !== "" && !kinds.has(`${apiVersion} ${kind}`))
    throw failed(`no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`);
  const { user = "", group = "", apiGroup = "", resource = "", namespace = "", nonResourcePath = "", readonly = false } = read.spec ?? read;
  return [{ user, group, apiGroup, resource, namespace, nonResourcePath, readonly }];
}

interface PolicyLine extends Partial<Policy> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly spec?: Partial<Policy>;
}

function readLine(text: string, failed: (fault: string) => Error): PolicyLine {
  try {
    return decodeUntyped(Buffer.from(text), { mediaType: "json" }).value as PolicyLine;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw failed(unrecognizedText(error));
  }
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
