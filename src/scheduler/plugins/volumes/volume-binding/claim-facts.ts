import { quantityValue } from "../../../../apimachinery/quantity.ts";
import type { Claim, Volume, VolumeWorld } from "./volume-world.ts";

export const bindCompleted = "pv.kubernetes.io/bind-completed";
export const boundByController = "pv.kubernetes.io/bound-by-controller";
export const selectedNode = "volume.kubernetes.io/selected-node";
const betaStorageClass = "volume.beta.kubernetes.io/storage-class";

/** Whether claim and volume have been brought together for good. */
export function isFullyBound({ metadata, spec }: Claim): boolean {
  return (spec?.volumeName ?? "") !== "" && metadata.annotations?.[bindCompleted] !== undefined;
}

export function classOfClaim({ metadata, spec }: Claim): string {
  return metadata.annotations?.[betaStorageClass] ?? spec?.storageClassName ?? "";
}

export function classOfVolume({ metadata, spec }: Volume): string {
  return metadata.annotations?.[betaStorageClass] ?? spec?.storageClassName ?? "";
}

/** Whether the claim waits for its first pod (WaitForFirstConsumer). */
export function isDelayed(claim: Claim, world: VolumeWorld): boolean {
  return world.storageClass(classOfClaim(claim))?.volumeBindingMode === "WaitForFirstConsumer";
}

export function requestedBytes({ spec }: Claim): number {
  return quantityValue(spec?.resources?.requests?.storage ?? 0);
}

export function capacityBytes({ spec }: Volume): number {
  return quantityValue(spec?.capacity?.storage ?? 0);
}

/** Whether the volume is reserved for that claim. */
export function isFor({ spec }: Volume, claim: Claim): boolean {
  const reference = spec?.claimRef;
  if (reference === undefined || reference.name !== claim.metadata.name || reference.namespace !== claim.metadata.namespace) return false;
  return (reference.uid ?? "") === "" || reference.uid === claim.metadata.uid;
}
