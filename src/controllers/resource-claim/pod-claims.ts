import { controllerOf, keyOf } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodResourceClaim } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";

/** On a claim made for a pod: which of the pod's claims it is. */
export const podClaimAnnotation = "resource.kubernetes.io/pod-claim-name";

/** A pod that will not use its claims any more: it has ended, or is going without ever having had a node. */
export function isPodDone({ metadata, spec, status }: DeepReadonly<Pod>): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  return metadata.deletionTimestamp !== undefined && (spec?.nodeName ?? "") === "";
}

/** The claim made for one entry of a pod's `resourceClaims`: as the status tells, else as its annotation does. */
export function claimMadeFor(
  pod: DeepReadonly<Pod>,
  entry: DeepReadonly<PodResourceClaim>,
  claims: readonly DeepReadonly<ResourceClaim>[],
): DeepReadonly<ResourceClaim> | undefined {
  const named = pod.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name)?.resourceClaimName;
  const own = claims.filter((claim) => controllerOf(claim)?.uid === pod.metadata.uid && claim.metadata.deletionTimestamp === undefined);
  return own.find(({ metadata }) => metadata.name === named) ?? own.find(({ metadata }) => metadata.annotations?.[podClaimAnnotation] === entry.name);
}

/** Names of the claims that a pod uses: those it names and those made for it. */
export function claimNamesOf({ spec, status }: DeepReadonly<Pod>): string[] {
  const named = (spec?.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName);
  const made = (status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName);
  return [...named, ...made].filter((name) => name !== undefined);
}

/** Keys of this controller: pods and claims have names in common. */
export const podKey = (pod: DeepReadonly<Pod>): string => `pod:${keyOf(pod)}`;
export const claimKey = (namespace: string, name: string): string => `claim:${namespace}/${name}`;
