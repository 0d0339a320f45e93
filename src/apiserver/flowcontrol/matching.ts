/** Whether a flow schema is for a request (API type flowcontrol.apiserver.k8s.io/v1 FlowSchema). Made ready once: it is asked at every request. */
import type { FlowSchema, NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule, Subject } from "../../api/flowcontrol-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestInfo } from "../http/request-info.ts";

export class SchemaMatcher {
  readonly #rules: readonly Rule[];

  constructor(schema: FlowSchema) {
    this.#rules = (schema.spec?.rules ?? []).map((rule) => new Rule(rule));
  }

  matches(user: UserInfo, info: RequestInfo): boolean {
    for (const rule of this.#rules) if (rule.matches(user, info)) return true;
    return false;
  }
}

class Rule {
  readonly #subjects: Subjects;
  readonly #resources: readonly ResourceRule[];
  readonly #paths: readonly PathRule[];

  constructor({ subjects = [], resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects) {
    this.#subjects = new Subjects(subjects);
    this.#resources = resourceRules.map((rule) => new ResourceRule(rule));
    this.#paths = nonResourceRules.map((rule) => new PathRule(rule));
  }

  matches(user: UserInfo, info: RequestInfo): boolean {
    if (!this.#subjects.include(user)) return false;
    const rules = info.isResourceRequest ? this.#resources : this.#paths;
    for (const rule of rules) if (rule.matches(info)) return true;
    return false;
  }
}

class Subjects {
  readonly #names = new Set<string>();
  readonly #groups = new Set<string>();
  /** Beginnings of the names of all service accounts of a namespace. */
  readonly #prefixes: string[] = [];
  readonly #includesAnybody: boolean;

  constructor(subjects: readonly Subject[]) {
    for (const { kind, user, group, serviceAccount } of subjects) {
      if (kind === "User") this.#names.add(user?.name ?? "");
      else if (kind === "Group") this.#groups.add(group?.name ?? "");
      else if (kind === "ServiceAccount") {
        const prefix = `system:serviceaccount:${serviceAccount?.namespace}:`;
        if (serviceAccount?.name === "*") this.#prefixes.push(prefix);
        else this.#names.add(`${prefix}${serviceAccount?.name}`);
      }
    }
    this.#includesAnybody = this.#groups.has("*") || subjects.some(({ kind, user }) => kind === "User" && user?.name === "*");
  }

  include({ username, groups }: UserInfo): boolean {
    if (this.#includesAnybody || this.#names.has(username)) return true;
    if (this.#groups.size > 0) for (const group of groups) if (this.#groups.has(group)) return true;
    for (const prefix of this.#prefixes) if (username.startsWith(prefix)) return true;
    return false;
  }
}

class ResourceRule {
  readonly #verbs: Names;
  readonly #groups: Names;
  readonly #resources: Names;
  readonly #namespaces: Names;
  readonly #isForCluster: boolean;

  constructor(rule: ResourcePolicyRule) {
    this.#verbs = namesOf(rule.verbs);
    this.#groups = namesOf(rule.apiGroups);
    this.#resources = namesOf(rule.resources);
    this.#namespaces = namesOf(rule.namespaces);
    this.#isForCluster = rule.clusterScope === true;
  }

  matches({ verb, group, resource, subresource, namespace }: RequestInfo): boolean {
    return (
      has(this.#verbs, verb) &&
      has(this.#groups, group) &&
      (this.#resources === "all" || this.#resources.has(subresource === "" ? resource : `${resource}/${subresource}`)) &&
      (namespace === "" ? this.#isForCluster : has(this.#namespaces, namespace))
    );
  }
}

class PathRule {
  readonly #verbs: Names;
  readonly #paths: Names;
  readonly #prefixes: readonly string[];

  constructor({ verbs, nonResourceURLs }: NonResourcePolicyRule) {
    this.#verbs = namesOf(verbs);
    this.#paths = namesOf(nonResourceURLs);
    this.#prefixes = (nonResourceURLs ?? []).filter((url) => url.endsWith("/*")).map((url) => url.slice(0, -1));
  }

  matches({ verb, path }: RequestInfo): boolean {
    return has(this.#verbs, verb) && (has(this.#paths, path) || this.#prefixes.some((prefix) => path.startsWith(prefix)));
  }
}

type Names = ReadonlySet<string> | "all";

function namesOf(list: readonly string[] | undefined): Names {
  return list?.includes("*") === true ? "all" : new Set(list);
}

function has(names: Names, name: string): boolean {
  return names === "all" || names.has(name);
}
