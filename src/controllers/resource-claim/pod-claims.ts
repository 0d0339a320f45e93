import { controllerOf, keyOf } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodResourceClaim } from "../../api/core-v1/types.ts";
import type { PodGroup, PodGroupResourceClaim } from "../../api/scheduling-v1beta1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";

/** On a claim made for a pod, or for a group of pods: which of its claims it is. */
export const podClaimAnnotation = "resource.kubernetes.io/pod-claim-name";

/** A pod that will not use its claims any more: it has ended, or is going without ever having had a node. */
export function isPodDone({ metadata, spec, status }: DeepReadonly<Pod>): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  return metadata.deletionTimestamp !== undefined && (spec?.nodeName ?? "") === "";
}

/** The claim made for one entry of a pod's, or a group's, `resourceClaims`: as the status tells, else as its annotation does. */
export function claimMadeFor(
  pod: DeepReadonly<Pod> | DeepReadonly<PodGroup>,
  entry: DeepReadonly<PodResourceClaim | PodGroupResourceClaim>,
  claims: readonly DeepReadonly<ResourceClaim>[],
): DeepReadonly<ResourceClaim> | undefined {
  const named = pod.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name)?.resourceClaimName;
  const own = claims.filter((claim) => controllerOf(claim)?.uid === pod.metadata.uid && claim.metadata.deletionTimestamp === undefined);
  return own.find(({ metadata }) => metadata.name === named) ?? own.find(({ metadata }) => metadata.annotations?.[podClaimAnnotation] === entry.name);
}

/** The group's entry that an entry of one of its pods means: all fields of both are the same (KEP-5729). */
export function groupEntryFor(
  group: DeepReadonly<PodGroup> | undefined,
  entry: DeepReadonly<PodResourceClaim>,
): DeepReadonly<PodGroupResourceClaim> | undefined {
  return group?.spec?.resourceClaims?.find(
    ({ name, resourceClaimName, resourceClaimTemplateName }) =>
      name === entry.name && resourceClaimName === entry.resourceClaimName && resourceClaimTemplateName === entry.resourceClaimTemplateName,
  );
}

/** Names of the claims that a pod uses: those it names and those made for it. */
export function claimNamesOf({ spec, status }: DeepReadonly<Pod>): string[] {
  const named = (spec?.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName);
  const made = (status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName);
  return [...named, ...made].filter((name) => name !== undefined);
}

/** Keys of this controller: pods, groups and claims have names in common. */
export const groupKey = (namespace: string, name: string): string => `group:${namespace}/${name}`;
export const podKey = (pod: DeepReadonly<Pod>): string => `pod:${keyOf(pod)}`;
export const claimKey = (namespace: string, name: string): string => `claim:${namespace}/${name}`;
