/** Whether one set of RBAC rules grants all that another one does, and how what is missing is told. */
import type { PolicyRule } from "../../api/rbac-v1/types.ts";

/** The single rights of `wanted` that none of `owned` grants. */
export function missingRights(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((right) => !owned.some((rule) => covers(rule, right)));
}

/** One line for each resource, name and group with its verbs, sorted: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function describeRights(rights: readonly PolicyRule[]): string {
  return [...new Set(compact(rights).map(ruleText))].sort().join("\n");
}

/** A rule as rights of one verb on one thing each. */
function breakDown({ apiGroups = [], resources = [], verbs = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): PolicyRule[] {
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb): PolicyRule[] => {
        const right = { apiGroups: [group], resources: [resource], verbs: [verb] };
        return resourceNames.length === 0 ? [right] : resourceNames.map((name) => ({ ...right, resourceNames: [name] }));
      }),
    ),
  );
  return [...ofResources, ...nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })))];
}

function covers(owned: PolicyRule, right: PolicyRule): boolean {
  const ownNames = owned.resourceNames ?? [];
  const names = right.resourceNames ?? [];
  return (
    hasAll(owned.verbs, right.verbs) &&
    hasAll(owned.apiGroups, right.apiGroups) &&
    (right.resources ?? []).every((resource) => hasResource(owned.resources ?? [], resource)) &&
    (right.nonResourceURLs ?? []).every((url) =>
      (owned.nonResourceURLs ?? []).some((own) => own === url || (own.endsWith("*") && url.startsWith(own.replace(/\*+$/, "")))),
    ) &&
    (ownNames.length === 0 || (names.length > 0 && names.every((name) => ownNames.includes(name))))
  );
}

function hasAll(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return owned.includes("*") || wanted.every((item) => owned.includes(item));
}

function hasResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes("*") || owned.includes(resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && owned.includes(`*/${resource.slice(slash + 1)}`);
}

/** Rights that differ in their verbs only become one; a verb asked for twice stands twice. */
function compact(rights: readonly PolicyRule[]): PolicyRule[] {
  const byTarget = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const right of rights) {
    if (right.nonResourceURLs !== undefined) {
      others.push(right);
      continue;
    }
    const key = JSON.stringify([right.apiGroups, right.resources, right.resourceNames]);
    const existing = byTarget.get(key);
    if (existing === undefined) byTarget.set(key, { ...right, verbs: [...(right.verbs ?? [])] });
    else existing.verbs = [...existing.verbs!, ...(right.verbs ?? [])];
  }
  return [...others, ...byTarget.values()];
}

function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ] as const;
  return `{${parts.flatMap(([name, list]) => ((list ?? []).length === 0 ? [] : [`${name}:${listText(list!)}`])).join(", ")}}`;
}

/** As Go prints a list of texts: `["a" "b"]`. */
export function listText(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(" ")}]`;
}
