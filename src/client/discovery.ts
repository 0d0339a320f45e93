import type { Client, CallOptions } from "./client.ts";
import type { ResourceType } from "./resource-type.ts";

/** What the server offers, custom resources included, by aggregated discovery (KEP-3352): two requests. */
export async function discoverResources(client: Client, options: CallOptions = {}): Promise<readonly DiscoveredResource[]> {
  const roots = await Promise.all(["/api", "/apis"].map((path) => client.raw<DiscoveryList>(path, { ...options, accept })));
  return roots.flatMap((list) => flatten(list));
}

/** Of each group's resources those of its preferred version, or of the only version that has them. */
export function preferredResources(discovered: readonly DiscoveredResource[]): readonly DiscoveredResource[] {
  const chosen = new Map<string, DiscoveredResource>();
  // Versions come in the server's order of preference.
  for (const item of discovered) {
    const key = `${item.type.group}/${item.type.resource}`;
    if (!chosen.has(key)) chosen.set(key, item);
  }
  return [...chosen.values()];
}

/** The resource that serves a kind, or undefined. */
export function resourceOfKind(discovered: readonly DiscoveredResource[], kind: { group: string; version?: string; kind: string }): ResourceType | undefined {
  const fits = ({ type }: DiscoveredResource) =>
    type.group === kind.group && type.kind === kind.kind && (kind.version === undefined || type.version === kind.version);
  return discovered.find(fits)?.type;
}

/** A resource that a server has, with what can be done with it. */
export interface DiscoveredResource {
  readonly type: ResourceType;
  readonly verbs: ReadonlySet<string>;
  readonly subresources: readonly DiscoveredSubresource[];
  /** The server could not reach the group's backend: the list may be old. */
  readonly isStale: boolean;
}
/** A part of a resource with verbs of its own, such as `status`; `kind` is what it answers with. */
export interface DiscoveredSubresource {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: ReadonlySet<string>;
}

interface DiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly { readonly version: string; readonly freshness?: string; readonly resources?: readonly DiscoveryEntry[] }[];
  }[];
}
interface DiscoveryEntry {
  readonly resource: string;
  readonly responseKind?: { readonly group?: string; readonly version?: string; readonly kind?: string };
  readonly scope: "Namespaced" | "Cluster";
  readonly verbs?: readonly string[];
  readonly subresources?: readonly {
    readonly subresource: string;
    readonly responseKind?: DiscoveryEntry["responseKind"];
    readonly verbs?: readonly string[];
  }[];
}

const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

function flatten(list: DiscoveryList): DiscoveredResource[] {
  const result: DiscoveredResource[] = [];
  for (const item of list.items ?? []) {
    const group = item.metadata?.name ?? "";
    for (const { version, freshness, resources = [] } of item.versions ?? []) {
      for (const entry of resources) result.push(discovered(group, version, entry, freshness === "Stale"));
    }
  }
  return result;
}

function discovered(group: string, version: string, entry: DiscoveryEntry, isStale: boolean): DiscoveredResource {
  return {
    type: { group, version, resource: entry.resource, kind: entry.responseKind?.kind ?? "", isNamespaced: entry.scope === "Namespaced" },
    verbs: new Set(entry.verbs),
    isStale,
    subresources: (entry.subresources ?? []).map((subresource) => ({
      name: subresource.subresource,
      kind: {
        group: subresource.responseKind?.group ?? group,
        version: subresource.responseKind?.version ?? version,
        kind: subresource.responseKind?.kind ?? "",
      },
      verbs: new Set(subresource.verbs),
    })),
  };
}
