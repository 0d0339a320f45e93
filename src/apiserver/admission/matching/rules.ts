/** Which requests a policy or webhook is about: its rules over resources (documentation page "Dynamic Admission Control", "Matching requests: rules"). */
import { parseApiVersion } from "../../../apimachinery/object.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { AdmissionRequest } from "../chain.ts";

/** admissionregistration.k8s.io/v1 RuleWithOperations; policies name single objects, too. */
export interface ResourceRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
  readonly resourceNames?: readonly string[];
}

/**
 * The version of the request's resource that a rule speaks of: the request's own, or (match policy Equivalent) another one that the same
 * objects are served in. Undefined: no rule matches.
 */
export function matchedDefinition(rules: readonly ResourceRule[], request: AdmissionRequest, matchPolicy: string | undefined): ResourceDefinition | undefined {
  const { definition } = request;
  for (const rule of rules) {
    if (isAbout(rule, request) && speaksOf(rule, definition)) return definition;
  }
  if (matchPolicy === "Exact") return undefined;
  for (const rule of rules) {
    if (!isAbout(rule, request)) continue;
    const found = equivalents(request).find((other) => speaksOf(rule, other));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Configuration of admission itself is never subject to it, so that a bad one can be mended; nor are questions about identity and rights. */
export function isExempt({ definition: { group, resource } }: AdmissionRequest): boolean {
  switch (group) {
    case "admissionregistration.k8s.io":
      return configurationResources.has(resource);
    case "authentication.k8s.io":
    case "authorization.k8s.io":
      return true;
    default:
      return false;
  }
}

/** The namespace that selectors look at and that reviews name: for a namespace, itself. */
export function namespaceOf({ definition, namespace, name, object }: AdmissionRequest): string {
  return isNamespaceResource(definition) ? name || (object?.metadata?.name ?? "") : namespace;
}

export function isNamespaceResource({ group, resource }: Pick<ResourceDefinition, "group" | "resource">): boolean {
  return group === "" && resource === "namespaces";
}

const configurationResources = new Set([
  "validatingwebhookconfigurations",
  "mutatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
]);

/** All of a rule but group and version. */
function isAbout(rule: ResourceRule, request: AdmissionRequest): boolean {
  const { operations = [], resources = [], resourceNames = [] } = rule;
  const { operation, definition, subresource, name } = request;
  return (
    has(operations, operation) &&
    resources.some((pattern) => matchesResource(pattern, definition.resource, subresource)) &&
    isInScope(rule.scope, request) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function speaksOf({ apiGroups = [], apiVersions = [] }: ResourceRule, { group, version }: ResourceDefinition): boolean {
  return has(apiGroups, group) && has(apiVersions, version);
}

const has = (list: readonly string[], word: string) => list.includes("*") || list.includes(word);

/** `pods`, `pods/status`, `pods/*`, `*`, `*` with `/status`, everything: a pattern without a slash is about no subresource. */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf("/");
  const [main, sub] = slash < 0 ? [pattern, ""] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (main === "*" || main === resource) && (sub === "*" || sub === subresource);
}

function isInScope(scope: string | undefined, { definition }: AdmissionRequest): boolean {
  switch (scope) {
    case "Namespaced":
      return definition.isNamespaced;
    case "Cluster":
      return !definition.isNamespaced;
    default:
      return true;
  }
}

/** The same objects in other versions and groups. */
function equivalents({ context, definition }: AdmissionRequest): ResourceDefinition[] {
  const prefix = definition.storage?.prefix;
  if (prefix === undefined) return [];
  return [...context.server.resources].filter((other) => other !== definition && other.storage?.prefix === prefix);
}

/** The resource of a kind that a policy names, such as that of its parameters. */
export function resourceOfKind({ context }: AdmissionRequest, apiVersion: string, kind: string): ResourceDefinition | undefined {
  const parsed = parseApiVersion(apiVersion);
  return parsed && context.server.resources.byKind(parsed.group, parsed.version, kind);
}
