/** Which requests are audited, and how much of them (API type audit.k8s.io/v1 Policy; documentation page "Auditing"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { fieldErrorText, invalid, notSupported } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestInfo } from "../http/request-info.ts";

export type AuditLevel = "None" | "Metadata" | "Request" | "RequestResponse";
export type AuditStage = "RequestReceived" | "ResponseStarted" | "ResponseComplete" | "Panic";

export interface AuditPolicy {
  readonly rules?: readonly AuditRule[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
}

/** Every list that is not empty must have something of the request. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly AuditResources[];
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
}

interface AuditResources {
  readonly group?: string;
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What a policy says of one request. */
export interface AuditVerdict {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitsManagedFields: boolean;
}

/** The verdict of the first rule that is for the request. `user` is undefined when nobody knows who it is. */
export function judge(policy: AuditPolicy, user: UserInfo | undefined, info: RequestInfo): AuditVerdict {
  const rule = policy.rules?.find((candidate) => isFor(candidate, user, info));
  if (rule === undefined) return { level: "None", omitStages: new Set(policy.omitStages), omitsManagedFields: false };
  return {
    level: rule.level,
    omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]),
    omitsManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
  };
}

function isFor(rule: AuditRule, user: UserInfo | undefined, info: RequestInfo): boolean {
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  if (users.length > 0 && !users.includes(user?.username ?? "")) return false;
  if (userGroups.length > 0 && !userGroups.some((group) => user?.groups.includes(group) === true)) return false;
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return isForResource(info, namespaces, resources);
  if (nonResourceURLs.length > 0) return !info.isResourceRequest && nonResourceURLs.some((pattern) => isForPath(pattern, info.path));
  return true;
}

function isForResource(info: RequestInfo, namespaces: readonly string[], resources: readonly AuditResources[]): boolean {
  if (!info.isResourceRequest) return false;
  if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false;
  return resources.length === 0 || resources.some((entry) => isForEntry(entry, info));
}

function isForEntry({ group = "", resources = [], resourceNames = [] }: AuditResources, info: RequestInfo): boolean {
  if (group !== "*" && group !== info.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  const { resource, subresource } = info;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  // `*` is every resource and subresource; `pods/*` and `*/log` are subresources only.
  return resources.some((wanted) => wanted === "*" || wanted === full || (subresource !== "" && (wanted === `${resource}/*` || wanted === `*/${subresource}`)));
}

function isForPath(pattern: string, path: string): boolean {
  if (pattern === path || pattern === "*") return true;
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}

const levels: readonly string[] = ["None", "Metadata", "Request", "RequestResponse"];
const stages: readonly string[] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];

/** A policy from the document of `--audit-policy-file`. Throws an Error that says what is wrong, as kube-apiserver words it. */
export function readPolicy(document: unknown, file: string): AuditPolicy {
  const { apiVersion, kind, ...policy } = (typeof document === "object" && document !== null ? document : {}) as AuditPolicy & {
    apiVersion?: string;
    kind?: string;
  };
  if (kind !== "Policy" || apiVersion !== "audit.k8s.io/v1")
    throw new Error(
      `failed decoding: no kind ${JSON.stringify(kind ?? "")} is registered for version ${JSON.stringify(apiVersion ?? "")} in scheme "k8s.io/apiserver/pkg/audit/scheme.go": from file ${file}`,
    );
  const errors = validatePolicy(policy);
  if (errors.length > 0) {
    const texts = errors.map((error) => fieldErrorText(error));
    throw new Error(texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`);
  }
  if ((policy.rules ?? []).length === 0) throw new Error(`loaded illegal policy with 0 rules from file ${file}`);
  return policy;
}

/** All faults of a policy. */
export function validatePolicy({ omitStages = [], rules = [] }: AuditPolicy): FieldError[] {
  return [
    ...validateStages(omitStages, FieldPath.root("omitStages")),
    ...rules.flatMap((rule, index) => validateRule(rule, FieldPath.root("rules").index(index))),
  ];
}

function validateRule(rule: AuditRule, path: FieldPath): FieldError[] {
  const { level = "", nonResourceURLs = [], resources = [], namespaces = [], omitStages = [] } = rule as Partial<AuditRule>;
  const errors = levels.includes(level) ? [] : [notSupported(path.child("level"), level, levels)];
  errors.push(...nonResourceURLs.flatMap((url, index) => validatePath(url, path.child("nonResourceURLs").index(index))));
  errors.push(...resources.flatMap((entry, index) => validateEntry(entry, path.child("resources").index(index))));
  errors.push(...validateStages(omitStages, path.child("omitStages")));
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0))
    errors.push(invalid(path.child("nonResourceURLs"), nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"));
  return errors;
}

function validatePath(url: string, path: FieldPath): FieldError[] {
  if (url === "*") return [];
  const errors: FieldError[] = [];
  if (!url.startsWith("/")) errors.push(invalid(path, url, "non-resource URL rules must begin with a '/' character"));
  if (url.slice(0, -1).includes("*")) errors.push(invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule"));
  return errors;
}

function validateEntry({ resources = [], resourceNames = [] }: AuditResources, path: FieldPath): FieldError[] {
  return resourceNames.length > 0 && resources.length === 0
    ? [invalid(path.child("resourceNames"), resourceNames, "using resourceNames requires at least one resource")]
    : [];
}

function validateStages(given: readonly string[], path: FieldPath): FieldError[] {
  return given.flatMap((stage, index) => (stages.includes(stage) ? [] : [invalid(path.index(index), stage, `allowed stages are ${stages.join(",")}`)]));
}
