import { unresolvable } from "../../framework/refusal.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClaimWorld } from "./claim-world.ts";

/** The resource claims of a pod, or why it cannot be scheduled before somebody does something about them. */
export function resourceClaimsOf({ pod, namespace, uid }: PodInfo, world: ClaimWorld): readonly DeepReadonly<ResourceClaim>[] | Refusal {
  const claims: DeepReadonly<ResourceClaim>[] = [];
  for (const { name, resourceClaimName, resourceClaimTemplateName } of pod.spec?.resourceClaims ?? []) {
    const generated = pod.status?.resourceClaimStatuses?.find((one) => one.name === name);
    // A status without a name: the template asked for nothing.
    if (resourceClaimName === undefined && generated !== undefined && generated.resourceClaimName === undefined) continue;
    const claimName = resourceClaimName ?? generated?.resourceClaimName;
    if (claimName === undefined) return unresolvable(`pod claim ${name}: ResourceClaim not created yet`);
    const claim = world.claim(namespace, claimName);
    if (claim === undefined) return unresolvable(`resourceclaim ${JSON.stringify(claimName)} not found`);
    if (claim.metadata.deletionTimestamp !== undefined) return unresolvable(`resourceclaim ${JSON.stringify(claimName)} is being deleted`);
    if (resourceClaimTemplateName !== undefined && !claim.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid))
      return unresolvable(`ResourceClaim ${namespace}/${claimName} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`);
    claims.push(claim);
  }
  const extended = world.claim(namespace, pod.status?.extendedResourceClaimStatus?.resourceClaimName ?? "");
  if (extended !== undefined && extended.metadata.deletionTimestamp === undefined) claims.push(extended);
  return claims;
}
