/**
 * Which versions of which kinds a server offers (documentation pages "API Overview: Enabling or disabling API groups" and "Compatibility
 * Version For Kubernetes Control Plane Components"): what the data say, narrowed and widened by `--runtime-config`, feature gates and
 * `--emulated-version`.
 */
import discovery from "../../../api/data/discovery.json" with { type: "json" };
import onRequest from "../../../api/data/discovery-on-request.json" with { type: "json" };
import lifecycleData from "../../../api/data/lifecycles.json" with { type: "json" };
import { apiVersionOf } from "../../../apimachinery/object.ts";

export interface DiscoveredResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly {
    readonly name: string;
    readonly responseKind?: { readonly group: string; readonly version: string; readonly kind: string };
    readonly verbs: readonly string[];
  }[];
}

export interface DiscoveredGroup {
  readonly group: string;
  readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[];
}

export interface VersionChoice {
  /** `--runtime-config`: `group/version`, `api/all`, `api/ga`, `api/beta`, `api/alpha` → on or off. */
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
  /** `--emulated-version`, such as `1.36`. */
  readonly emulatedVersion: string;
  isEnabled(gate: string): boolean;
}

/** A release number, or the one in which something happens to a version of a kind. */
export interface Lifecycle {
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** `group/version Kind`. */
  readonly replacement?: string;
}

const lifecycles: Readonly<Record<string, Lifecycle>> = lifecycleData;

export function lifecycleOf(group: string, version: string, kind: string): Lifecycle | undefined {
  const key = `${apiVersionOf(group, version)} ${kind}`;
  return Object.hasOwn(lifecycles, key) ? lifecycles[key] : undefined;
}

const byDefault = Object.values(discovery as unknown as Record<string, DiscoveredGroup>);
const furtherGroups = Object.values(onRequest as unknown as Record<string, DiscoveredGroup>);

/** Every built-in resource in every version, what is served by default first. */
export const allGroups: readonly DiscoveredGroup[] = [...byDefault, ...furtherGroups];

/** The resources of each group and version that `choice` has served. */
export function servedGroups(choice: VersionChoice): DiscoveredGroup[] {
  const select = (groups: readonly DiscoveredGroup[], isDefault: boolean) =>
    groups.map(({ group, versions }) => ({
      group,
      versions: versions
        .filter(({ version }) => isOn(choice, group, version, isDefault))
        .map(({ version, resources }) => ({ version, resources: resources.filter(({ name, kind }) => isOffered(choice, { group, version, name, kind })) })),
    }));
  return [...select(byDefault, true), ...select(furtherGroups, false)];
}

/** What `--runtime-config` says of a version; the narrower key wins. */
function isOn({ runtimeConfig }: VersionChoice, group: string, version: string, isDefault: boolean): boolean {
  return runtimeConfig[apiVersionOf(group, version)] ?? runtimeConfig[`api/${stageOf(version)}`] ?? runtimeConfig["api/all"] ?? isDefault;
}

function stageOf(version: string): "alpha" | "beta" | "ga" {
  if (version.includes("alpha")) return "alpha";
  return version.includes("beta") ? "beta" : "ga";
}

/** Gates without which a resource is not there at all. */
const resourceGates: Readonly<Record<string, string>> = {
  "scheduling.k8s.io/workloads": "GenericWorkload",
  "scheduling.k8s.io/podgroups": "GenericWorkload",
  "scheduling.k8s.io/compositepodgroups": "CompositePodGroup",
  "lifecycle.k8s.io/evictions": "EvictionRequestAPI",
  "lifecycle.k8s.io/evictionrequests": "EvictionRequestAPI",
};

function isOffered(
  { emulatedVersion, isEnabled }: VersionChoice,
  { group, version, name, kind }: { group: string; version: string; name: string; kind: string },
): boolean {
  const gate = resourceGates[`${group}/${name}`];
  if (gate !== undefined && !isEnabled(gate)) return false;
  const introduced = lifecycleOf(group, version, kind)?.introduced;
  return introduced === undefined || compareReleases(introduced, emulatedVersion) <= 0;
}

/** Order of two releases such as `1.9` and `1.36`. */
export function compareReleases(left: string, right: string): number {
  const [major = 0, minor = 0] = left.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = right.split(".").map(Number);
  return major - otherMajor || minor - otherMinor;
}

/** What every request for a deprecated version is warned of (documentation page "Deprecated API Migration Guide"), or undefined. */
export function deprecationText(group: string, version: string, kind: string, emulatedVersion: string): string | undefined {
  const { deprecated, removed, replacement } = lifecycleOf(group, version, kind) ?? {};
  if (deprecated === undefined || compareReleases(deprecated, emulatedVersion) > 0) return undefined;
  const until = removed === undefined ? "" : `, unavailable in v${removed}+`;
  return `${apiVersionOf(group, version)} ${kind} is deprecated in v${deprecated}+${until}${replacement === undefined ? "" : `; use ${replacement}`}`;
}
