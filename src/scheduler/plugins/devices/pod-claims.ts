import { unresolvable } from "../../framework/refusal.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { PodResourceClaim } from "../../../api/core-v1/types.ts";
import type { ResourceClaim, ResourceClaimConsumerReference } from "../../../api/resource-v1/types.ts";
import type { PodGroup } from "../../../api/scheduling-v1beta1/types.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClaimWorld } from "./claim-world.ts";

/** A claim, and who is noted as its user when the pod uses it. */
export interface ClaimUse {
  readonly claim: DeepReadonly<ResourceClaim>;
  readonly user: DeepReadonly<ResourceClaimConsumerReference>;
}

/** The resource claims of a pod, or why it cannot be scheduled before somebody does something about them. */
export function resourceClaimsOf(pod: PodInfo, world: ClaimWorld): readonly DeepReadonly<ResourceClaim>[] | Refusal {
  const uses = claimUsesOf(pod, world);
  return "code" in uses ? uses : uses.map(({ claim }) => claim);
}

export function claimUsesOf(info: PodInfo, world: ClaimWorld): readonly ClaimUse[] | Refusal {
  const { pod, namespace } = info;
  const uses: ClaimUse[] = [];
  const own = { resource: "pods", name: info.name, uid: info.uid };
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const { name, resourceClaimName, resourceClaimTemplateName } = entry;
    const group = sharingGroup(info, entry, world);
    const generated = (group ?? pod).status?.resourceClaimStatuses?.find((one) => one.name === name);
    // A status without a name: the template asked for nothing.
    if (resourceClaimName === undefined && generated !== undefined && generated.resourceClaimName === undefined) continue;
    const claimName = resourceClaimName ?? generated?.resourceClaimName;
    if (claimName === undefined) return unresolvable(`pod claim ${name}: ResourceClaim not created yet`);
    const claim = world.claim(namespace, claimName);
    if (claim === undefined) return unresolvable(`resourceclaim ${JSON.stringify(claimName)} not found`);
    if (claim.metadata.deletionTimestamp !== undefined) return unresolvable(`resourceclaim ${JSON.stringify(claimName)} is being deleted`);
    const user = group === undefined ? own : { apiGroup: "scheduling.k8s.io", resource: "podgroups", name: group.metadata.name!, uid: group.metadata.uid! };
    if (resourceClaimTemplateName !== undefined && !claim.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === user.uid))
      return unresolvable(
        group === undefined
          ? `ResourceClaim ${namespace}/${claimName} was not created for pod ${namespace}/${info.name} (pod is not owner)`
          : `ResourceClaim ${namespace}/${claimName} was not created for pod group ${namespace}/${user.name} (pod group is not owner)`,
      );
    uses.push({ claim, user });
  }
  const extended = world.claim(namespace, pod.status?.extendedResourceClaimStatus?.resourceClaimName ?? "");
  if (extended !== undefined && extended.metadata.deletionTimestamp === undefined) uses.push({ claim: extended, user: own });
  return uses;
}

/** The pod's group, if the entry means a claim of its: all fields of both are the same (KEP-5729). */
function sharingGroup(pod: PodInfo, entry: DeepReadonly<PodResourceClaim>, { groups }: ClaimWorld): DeepReadonly<PodGroup> | undefined {
  const group = groups?.hasClaims === true ? groups.groupFor(pod)?.group : undefined;
  const isShared = group?.spec?.resourceClaims?.some(
    ({ name, resourceClaimName, resourceClaimTemplateName }) =>
      name === entry.name && resourceClaimName === entry.resourceClaimName && resourceClaimTemplateName === entry.resourceClaimTemplateName,
  );
  return isShared === true ? group : undefined;
}
