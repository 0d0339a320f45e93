/**
 * Discovery documents (documentation page "The Kubernetes API: Discovery"): legacy lists and the aggregated form, made from the table of
 * resources and remade when it changes. Group order is data of the API; custom groups follow behind.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { ResourceDefinition, SubresourceDefinition } from "../registry/resource-definition.ts";
import type { ServerState } from "../server-state.ts";
import type { ResourceTable } from "../registry/resource-table.ts";

/** What is known of group-versions that are served elsewhere. */
export type OtherServers = Pick<ServerState, "apiServices" | "publications">;

/** Priorities of groups that no APIService tells. */
const builtInPriority = 15_000;
const customPriority = 1000;

export interface DiscoveryOptions {
  readonly builtIn: readonly string[];
  readonly others: OtherServers;
  /** Whether legacy lists say which version is stored (feature gate StorageVersionHash). */
  readonly hasStorageHash: boolean;
}

export class DiscoveryDocuments {
  readonly #table: ResourceTable;
  /** Built-in groups in the order in which `/apis` lists them. */
  readonly #builtIn: readonly string[];
  readonly #others: OtherServers;
  readonly #hasStorageHash: boolean;
  readonly #cache = new Map<string, unknown>();

  constructor(table: ResourceTable, { builtIn, others, hasStorageHash }: DiscoveryOptions) {
    this.#table = table;
    this.#builtIn = builtIn;
    this.#others = others;
    this.#hasStorageHash = hasStorageHash;
    const forget = () => this.#cache.clear();
    table.onChange(forget);
    others.apiServices.onChange(forget);
    others.publications.onChange(forget);
  }

  /** APIGroupList of `/apis`. */
  groups(): JsonObject {
    return this.#cached("groups", () => ({ kind: "APIGroupList", apiVersion: "v1", groups: this.#groupNames().map((name) => this.#group(name)) }));
  }

  /** APIGroup of `/apis/GROUP`, or undefined. */
  group(name: string): JsonObject | undefined {
    if (name === "" || (!this.#table.hasGroup(name) && !this.#others.apiServices.remotes.some(({ group }) => group === name))) return undefined;
    return this.#cached(`group ${name}`, () => ({ kind: "APIGroup", apiVersion: "v1", ...this.#group(name) }));
  }

  /** APIResourceList of a group and version, or undefined. */
  resources(group: string, version: string): JsonObject | undefined {
    if (!this.#table.hasVersion(group, version)) return undefined;
    return this.#cached(`resources ${group}/${version}`, () => ({
      kind: "APIResourceList",
      ...(group !== "" && { apiVersion: "v1" }),
      groupVersion: apiVersionOf(group, version),
      resources: this.#definitions(group, version).flatMap((definition) => legacyEntries(definition, this.#hasStorageHash)),
    }));
  }

  /** APIGroupDiscoveryList of `/api` (`isCore`) or `/apis`, with its ETag. */
  aggregated(isCore: boolean): { readonly body: JsonObject; readonly etag: string } {
    return this.#cached(`aggregated ${isCore}`, () => {
      const names = isCore ? [""] : this.#groupNames();
      const items = names.map((name) => ({
        metadata: name === "" ? {} : { name },
        versions: this.#versions(name).map((version) => this.#aggregatedVersion(name, version)),
      }));
      const body: JsonObject = { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
      return { body, etag: `"${createHash("sha512").update(JSON.stringify(body)).digest("hex").toUpperCase()}"` };
    });
  }

  #aggregatedVersion(group: string, version: string): JsonObject {
    const remote = this.#others.apiServices.remote(group, version);
    if (remote !== undefined) return this.#others.publications.discovery(remote);
    return { version, resources: this.#definitions(group, version).map(aggregatedEntry), freshness: "Current" };
  }

  /** By the priority that APIServices give them; groups without one by the order of built-in groups, behind them those of definitions. */
  #groupNames(): string[] {
    const served = new Set([...this.#table].map((definition) => definition.group).filter((name) => name !== ""));
    for (const { group } of this.#others.apiServices.remotes) served.add(group);
    const ranks = new Map([...served].map((name) => [name, this.#rank(name)]));
    return [...served].sort((a, b) => ranks.get(b)! - ranks.get(a)! || (a < b ? -1 : 1));
  }

  #rank(group: string): number {
    const known = this.#builtIn.indexOf(group);
    // The aggregator's own group has no APIService, and comes first.
    return this.#others.apiServices.groupPriority(group) ?? (known === 0 ? Number.MAX_SAFE_INTEGER : known > 0 ? builtInPriority - known : customPriority);
  }

  #versions(group: string): string[] {
    const served = new Set([...this.#table].filter((definition) => definition.group === group).map((definition) => definition.version));
    for (const remote of this.#others.apiServices.remotes) if (remote.group === group) served.add(remote.version);
    return [...served].sort((a, b) => this.#others.apiServices.compareVersions(group, a, b));
  }

  #definitions(group: string, version: string): ResourceDefinition[] {
    const found = [...this.#table].filter((definition) => definition.group === group && definition.version === version);
    return found.sort((a, b) => (a.resource < b.resource ? -1 : 1));
  }

  #group(name: string): JsonObject {
    const versions = this.#versions(name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0]! };
  }

  #cached<T>(key: string, make: () => T): T {
    if (!this.#cache.has(key)) this.#cache.set(key, make());
    return this.#cache.get(key) as T;
  }
}

/** Versions as Kubernetes ranks them: stable before beta before alpha, higher numbers first (documentation page "Versions in CustomResourceDefinitions"). */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  if (a === undefined || b === undefined) return a === b ? (left < right ? -1 : 1) : a === undefined ? 1 : -1;
  return b[0] - a[0] || b[1] - a[1] || b[2] - a[2];
}

function rank(version: string): [stage: number, major: number, minor: number] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return undefined;
  const stage = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}

function legacyEntries(definition: ResourceDefinition, hasStorageHash: boolean): JsonObject[] {
  const main: JsonObject = {
    name: definition.resource,
    singularName: definition.singular,
    namespaced: definition.isNamespaced,
    kind: definition.kind,
    verbs: [...definition.verbs],
    ...(definition.shortNames.length > 0 && { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length > 0 && { categories: [...definition.categories] }),
    ...(hasStorageHash && definition.storage !== undefined && { storageVersionHash: storageVersionHash(definition) }),
  };
  return [main, ...subresourcesOf(definition).map((subresource) => legacySubresource(definition, subresource))];
}

function legacySubresource(definition: ResourceDefinition, subresource: SubresourceDefinition): JsonObject {
  const isOtherGroup = subresource.group !== "" && (subresource.group !== definition.group || subresource.version !== definition.version);
  return {
    name: `${definition.resource}/${subresource.name}`,
    singularName: "",
    namespaced: definition.isNamespaced,
    ...(isOtherGroup && { group: subresource.group, version: subresource.version }),
    kind: subresource.kind,
    verbs: [...subresource.verbs],
  };
}

function aggregatedEntry(definition: ResourceDefinition): JsonObject {
  return {
    resource: definition.resource,
    responseKind: responseKind(definition, definition),
    scope: definition.isNamespaced ? "Namespaced" : "Cluster",
    singularResource: definition.singular,
    verbs: [...definition.verbs],
    ...(definition.shortNames.length > 0 && { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length > 0 && { categories: [...definition.categories] }),
    ...(definition.subresources.size > 0 && {
      subresources: subresourcesOf(definition).map((subresource) => ({
        subresource: subresource.name,
        responseKind: responseKind(definition, subresource),
        verbs: [...subresource.verbs],
      })),
    }),
  };
}

/** Built-in kinds leave group and version to the surrounding document. */
function responseKind(definition: ResourceDefinition, of: { readonly group: string; readonly version: string; readonly kind: string }): JsonObject {
  if (definition.isCustom) return { group: definition.group, version: definition.version, kind: of.kind };
  const isElsewhere = of.group !== definition.group && of.group !== "";
  return { group: isElsewhere ? of.group : "", version: isElsewhere ? of.version : "", kind: of.kind };
}

/** In the order of their names; those of custom resources as they are made. */
function subresourcesOf(definition: ResourceDefinition): SubresourceDefinition[] {
  const all = [...definition.subresources.values()];
  return definition.isCustom ? all : all.sort(byName);
}

const byName = (a: SubresourceDefinition, b: SubresourceDefinition) => (a.name < b.name ? -1 : 1);

/** Tells clients whether two resources share a storage: the start of a hash over the stored group, version and kind. */
function storageVersionHash(definition: ResourceDefinition): string {
  const { gvk, hashedVersion } = definition.storage!;
  return createHash("sha256")
    .update(`${gvk.group}/${hashedVersion ?? gvk.version}/${gvk.kind}`)
    .digest()
    .subarray(0, 8)
    .toString("base64");
}
