import { unresolvable } from "../../../framework/refusal.ts";
import { isDelayed, isFullyBound } from "./claim-facts.ts";
import type { DeepReadonly } from "../../../../apimachinery/json.ts";
import type { Volume as PodVolume } from "../../../../api/core-v1/types.ts";
import type { Refusal } from "../../../framework/refusal.ts";
import type { PodInfo } from "../../../state/pod-info.ts";
import type { Claim, VolumeWorld } from "./volume-world.ts";

/** The pod's claims by what is to be done about them. */
export interface PodClaims {
  readonly bound: readonly Claim[];
  /** To be bound, or provisioned, for the node that the pod gets. */
  readonly delayed: readonly Claim[];
  /** Somebody else has to bind them first. */
  readonly immediate: readonly Claim[];
}

/** Sorts the pod's claims, or says which of them cannot be used. */
export function podClaims(pod: PodInfo, world: VolumeWorld): PodClaims | Refusal {
  const claims: Claim[] = [];
  for (const volume of pod.pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod, volume);
    if (name === undefined) continue;
    const claim = world.claim(pod.namespace, name);
    const fault = faultOf(claim, { name, pod, isEphemeral: volume.ephemeral !== undefined });
    if (fault !== undefined) return unresolvable(fault);
    claims.push(claim!);
  }
  const bound = claims.filter(isFullyBound);
  const open = claims.filter((claim) => !isFullyBound(claim));
  const isForUs = (claim: Claim) => isDelayed(claim, world) && (claim.spec?.volumeName ?? "") === "";
  return { bound, delayed: open.filter(isForUs), immediate: open.filter((claim) => !isForUs(claim)) };
}

export function claimNameOf({ name }: PodInfo, volume: DeepReadonly<PodVolume>): string | undefined {
  if (volume.ephemeral !== undefined) return `${name}-${volume.name}`;
  return volume.persistentVolumeClaim?.claimName;
}

function faultOf(claim: Claim | undefined, { name, pod, isEphemeral }: { name: string; pod: PodInfo; isEphemeral: boolean }): string | undefined {
  const quoted = JSON.stringify(name);
  if (claim === undefined)
    return isEphemeral ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}` : `persistentvolumeclaim ${quoted} not found`;
  if (claim.status?.phase === "Lost") return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName)}`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim ${quoted} is being deleted`;
  if (isEphemeral && !claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.uid))
    return `PVC ${pod.namespace}/${name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`;
  return undefined;
}
