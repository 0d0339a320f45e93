/**
 * The APIServices as the aggregator reads them: who serves a group-version, and in which order groups and versions are listed. Follows the
 * cache of APIServices; parsed anew after a change, when somebody asks.
 */
import { compareVersions } from "../discovery/documents.ts";
import type { APIService, ServiceReference } from "../../api/apiregistration-v1/types.ts";
import type { CacheEvent, ResourceCache } from "../cache/resource-cache.ts";

export interface ServedVersion {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /** Absent: served by this server itself. */
  readonly service?: Required<ServiceReference>;
  /** PEM. */
  readonly caBundle?: string;
  readonly isInsecure: boolean;
  readonly isAvailable: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
}

export type RemoteVersion = ServedVersion & Required<Pick<ServedVersion, "service">>;

export class ApiServiceIndex {
  readonly #cache: ResourceCache;
  #byName: ReadonlyMap<string, ServedVersion> | undefined;

  constructor(cache: ResourceCache) {
    this.#cache = cache;
    cache.listen(() => (this.#byName = undefined));
  }

  /** Calls `listener` after each change. */
  onChange(listener: (event: CacheEvent) => void): void {
    this.#cache.listen(listener);
  }

  get all(): Iterable<ServedVersion> {
    return this.#versions.values();
  }

  /** The version that is served elsewhere, or undefined. */
  remote(group: string, version: string): RemoteVersion | undefined {
    const found = this.#versions.get(`${version}.${group}`);
    return found !== undefined && isRemote(found) ? found : undefined;
  }

  get remotes(): RemoteVersion[] {
    return [...this.#versions.values()].filter(isRemote);
  }

  /** The highest priority of a group's versions; undefined when no APIService tells. */
  groupPriority(group: string): number | undefined {
    const priorities = [...this.#versions.values()].filter((served) => served.group === group).map(({ groupPriority }) => groupPriority);
    return priorities.length === 0 ? undefined : Math.max(...priorities);
  }

  /** Versions of a group in the order in which they are preferred. */
  compareVersions(group: string, left: string, right: string): number {
    const priority = (version: string) => this.#versions.get(`${version}.${group}`)?.versionPriority ?? defaultVersionPriority;
    return priority(right) - priority(left) || compareVersions(left, right);
  }

  get #versions(): ReadonlyMap<string, ServedVersion> {
    return (this.#byName ??= new Map(
      [...this.#cache.state.prefixed("")].map(([name, stored]) => [name, readVersion(this.#cache.parse(stored) as unknown as APIService)]),
    ));
  }
}

/** Of versions that definitions have added. */
export const customPriorities = { group: 1000, version: 100 };
const defaultVersionPriority = customPriorities.version;

function isRemote(served: ServedVersion): served is RemoteVersion {
  return served.service !== undefined;
}

function readVersion({ metadata, spec, status }: APIService): ServedVersion {
  const { group = "", version = "", service, caBundle = "", insecureSkipTLSVerify = false, groupPriorityMinimum, versionPriority } = spec!;
  return {
    name: metadata.name!,
    group,
    version,
    ...(service !== undefined && { service: { namespace: service.namespace ?? "", name: service.name ?? "", port: service.port ?? 443 } }),
    ...(caBundle !== "" && { caBundle: Buffer.from(caBundle, "base64").toString() }),
    isInsecure: insecureSkipTLSVerify,
    isAvailable: (status?.conditions ?? []).some(({ type, status: is }) => type === "Available" && is === "True"),
    groupPriority: groupPriorityMinimum,
    versionPriority,
  };
}
