/** What a pod's resource claims ask of the node's drivers, and give its containers (KEP 4381). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";

/** Names of the claims that the pod uses, by its own names for them. Throws an Error for one that is not made yet. */
export function claimNames(pod: DeepReadonly<Pod>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { name, resourceClaimName } of pod.spec?.resourceClaims ?? []) {
    const status = pod.status?.resourceClaimStatuses?.find((entry) => entry.name === name);
    // A status without a name says that no claim is needed.
    if (resourceClaimName === undefined && status !== undefined && status.resourceClaimName === undefined) continue;
    const claimName = resourceClaimName ?? status?.resourceClaimName;
    if (claimName === undefined) throw new Error(`pod "${pod.metadata.namespace}/${pod.metadata.name}": ResourceClaim not created yet`);
    names.set(name, claimName);
  }
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  if (extended !== undefined) names.set(extendedName, extended);
  return names;
}

/** What the pod itself calls the claim that was made for its extended resources: no claim of the spec can have that name. */
export const extendedName = "";

/** Why a claim cannot be used by the pod; undefined when it can. */
export function claimFault(claim: DeepReadonly<ResourceClaim>, pod: DeepReadonly<Pod>): string | undefined {
  const label = `ResourceClaim ${claim.metadata.name}`;
  if (claim.metadata.deletionTimestamp !== undefined && claim.status?.allocation === undefined) return `${label} is being deleted`;
  if (claim.status?.allocation === undefined) return `${label} is not allocated`;
  const group = pod.spec?.schedulingGroup?.podGroupName;
  const isReserved = (claim.status.reservedFor ?? []).some(
    ({ uid, name, resource }) => uid === pod.metadata.uid || (resource === "podgroups" && group !== undefined && name === group),
  );
  return isReserved ? undefined : `pod ${pod.metadata.name}(${pod.metadata.uid}) is not allowed to use ${label}`;
}

/** Drivers that have devices of the claim. */
export function driversOf(claim: DeepReadonly<ResourceClaim>): string[] {
  return [...new Set((claim.status?.allocation?.devices?.results ?? []).map(({ driver }) => driver))];
}

/** A device that a driver made ready. */
export interface PreparedDevice {
  /** Of the claim; empty: of all. */
  readonly requests: readonly string[];
  readonly cdiIds: readonly string[];
}

/** CDI names of the devices a container gets, of claims by the pod's names for them. */
export function cdiDevices(pod: DeepReadonly<Pod>, containerName: string, prepared: ReadonlyMap<string, readonly PreparedDevice[]>): string[] {
  const container = containersOf(pod).find((spec) => spec.container.name === containerName)?.container;
  const wanted = (container?.resources?.claims ?? []).map(({ name, request }) => ({
    name,
    request: request === undefined || request === "" ? undefined : request,
  }));
  const mappings = pod.status?.extendedResourceClaimStatus?.requestMappings ?? [];
  for (const mapping of mappings) if (mapping.containerName === containerName) wanted.push({ name: extendedName, request: mapping.requestName });
  const ids = wanted.flatMap(({ name, request }) =>
    (prepared.get(name) ?? [])
      .filter(({ requests }) => request === undefined || requests.length === 0 || requests.some((own) => own === request || own.startsWith(`${request}/`)))
      .flatMap(({ cdiIds }) => cdiIds),
  );
  return [...new Set(ids)];
}
