/**
 * Role-based access control (documentation page "Using RBAC Authorization"). Rules are read from the server's caches; bindings are indexed by
 * subject.
 */
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject } from "../../api/rbac-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import { follow } from "../cache/follow.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "./authorizer.ts";

export interface RbacCaches {
  readonly roles: ResourceCache;
  readonly roleBindings: ResourceCache;
  readonly clusterRoles: ResourceCache;
  readonly clusterRoleBindings: ResourceCache;
}

export class RbacAuthorizer implements Authorizer {
  readonly name = "rbac";
  readonly #caches: RbacCaches;
  readonly #clusterIndex: SubjectIndex<ClusterRoleBinding>;
  readonly #namespacedIndex: SubjectIndex<RoleBinding>;

  constructor(caches: RbacCaches) {
    this.#caches = caches;
    this.#clusterIndex = new SubjectIndex(caches.clusterRoleBindings);
    this.#namespacedIndex = new SubjectIndex(caches.roleBindings);
  }

  authorize(attributes: AuthorizationAttributes): Decision {
    const missing: string[] = [];
    const namespace = attributes.kind === "resource" ? attributes.namespace : "";
    for (const { rule, binding, subject } of this.rulesFor(attributes.user, namespace, missing)) {
      if (ruleAllows(rule, attributes)) return { verdict: "allow", reason: `RBAC: allowed by ${describe(binding, subject)}` };
    }
    const reason = missing.length === 0 ? "" : `RBAC: ${missing.length === 1 ? missing[0]! : `[${missing.join(", ")}]`}`;
    return { verdict: "no-opinion", reason };
  }

  /** Every rule that applies to a user in a namespace, with where it comes from. Names of roles that do not exist go to `missing`. */
  *rulesFor(user: UserInfo, namespace: string, missing: string[] = []): Generator<AppliedRule> {
    for (const { binding, subject } of this.#clusterIndex.find(user, "")) {
      for (const rule of this.#rulesOf(binding.roleRef, "", missing)) yield { rule, binding, subject };
    }
    if (namespace === "") return;
    for (const { binding, subject } of this.#namespacedIndex.find(user, namespace)) {
      for (const rule of this.#rulesOf(binding.roleRef, namespace, missing)) yield { rule, binding, subject };
    }
  }

  /** Rules of the role a binding in `namespace` names; undefined when there is none. */
  rulesOfRole({ kind, name }: Pick<RoleRef, "kind" | "name">, namespace: string): readonly PolicyRule[] | undefined {
    const isCluster = kind === "ClusterRole";
    const cache = isCluster ? this.#caches.clusterRoles : this.#caches.roles;
    const stored = cache.get(isCluster ? name : `${namespace}/${name}`);
    return stored && ((cache.parse(stored) as unknown as Role | ClusterRole).rules ?? []);
  }

  #rulesOf(reference: RoleRef, namespace: string, missing: string[]): readonly PolicyRule[] {
    const rules = this.rulesOfRole(reference, namespace);
    if (rules === undefined)
      missing.push(`${reference.kind === "ClusterRole" ? "clusterrole" : "role"}.rbac.authorization.k8s.io ${JSON.stringify(reference.name)} not found`);
    return rules ?? [];
  }
}

/** A rule, and whence it applies. */
export interface AppliedRule {
  readonly rule: PolicyRule;
  readonly binding: RoleBinding | ClusterRoleBinding;
  readonly subject: Subject;
}

interface FoundBinding<B> {
  readonly binding: B;
  readonly subject: Subject;
}

/** Bindings by namespace and the names of their subjects, in the order of their names. */
class SubjectIndex<B extends RoleBinding | ClusterRoleBinding> {
  readonly #cache: ResourceCache;
  readonly #index = new Map<string, FoundBinding<B>[]>();
  readonly #catchUp: () => void;

  constructor(cache: ResourceCache) {
    this.#cache = cache;
    this.#catchUp = follow(cache, {
      reset: (objects) => {
        this.#index.clear();
        for (const stored of objects) this.#add(stored);
      },
      apply: ({ type, previous, object }) => {
        if (previous !== undefined) this.#remove(previous);
        if (type !== "DELETED") this.#add(object);
      },
    });
  }

  /** Bindings of the user and its groups; `namespace` is `""` for those of the whole cluster. */
  *find(user: UserInfo, namespace: string): Generator<FoundBinding<B>> {
    this.#catchUp();
    yield* this.#index.get(`${namespace} User ${user.username}`) ?? [];
    for (const group of user.groups) yield* this.#index.get(`${namespace} Group ${group}`) ?? [];
  }

  #add(stored: StoredObject): void {
    const binding = this.#cache.parse(stored) as unknown as B;
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(binding, subject);
      const found = this.#index.get(key);
      if (found === undefined) this.#index.set(key, [{ binding, subject }]);
      else insertByName(found, { binding, subject });
    }
  }

  #remove(stored: StoredObject): void {
    const binding = this.#cache.parse(stored) as unknown as B;
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(binding, subject);
      const rest = (this.#index.get(key) ?? []).filter((found) => found.binding.metadata.name !== binding.metadata.name);
      if (rest.length === 0) this.#index.delete(key);
      else this.#index.set(key, rest);
    }
  }
}

function subjectKey({ metadata }: RoleBinding | ClusterRoleBinding, subject: Subject): string {
  const namespace = metadata.namespace ?? "";
  return subject.kind === "ServiceAccount"
    ? `${namespace} User system:serviceaccount:${subject.namespace || namespace}:${subject.name}`
    : `${namespace} ${subject.kind} ${subject.name}`;
}

function insertByName<B extends RoleBinding | ClusterRoleBinding>(list: FoundBinding<B>[], added: FoundBinding<B>): void {
  const index = list.findIndex(({ binding }) => binding.metadata.name! > added.binding.metadata.name!);
  list.splice(index < 0 ? list.length : index, 0, added);
}

function describe({ metadata, roleRef }: RoleBinding | ClusterRoleBinding, subject: Subject): string {
  const binding =
    metadata.namespace === undefined
      ? `ClusterRoleBinding ${JSON.stringify(metadata.name)}`
      : `RoleBinding ${JSON.stringify(`${metadata.name}/${metadata.namespace}`)}`;
  const subjectText =
    subject.kind === "ServiceAccount" ? `ServiceAccount "${subject.name}/${subject.namespace ?? ""}"` : `${subject.kind} ${JSON.stringify(subject.name)}`;
  return `${binding} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subjectText}`;
}

/** Whether one rule allows what is asked. */
export function ruleAllows(rule: PolicyRule, attributes: AuthorizationAttributes): boolean {
  if (!matches(rule.verbs ?? [], attributes.verb)) return false;
  if (attributes.kind === "path") return (rule.nonResourceURLs ?? []).some((url) => pathMatches(url, attributes.path));
  const resource = attributes.subresource === "" ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  return (
    matches(rule.apiGroups ?? [], attributes.group) &&
    resourceMatches(rule.resources ?? [], resource, attributes.subresource) &&
    nameMatches(rule.resourceNames ?? [], attributes.name)
  );
}

const matches = (allowed: readonly string[], value: string) => allowed.includes("*") || allowed.includes(value);
const nameMatches = (names: readonly string[], name: string) => names.length === 0 || (name !== "" && names.includes(name));

function resourceMatches(allowed: readonly string[], resource: string, subresource: string): boolean {
  return matches(allowed, resource) || (subresource !== "" && allowed.includes(`*/${subresource}`));
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
