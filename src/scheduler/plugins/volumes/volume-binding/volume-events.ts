/** Which changes of storage objects may help a pod whose volumes could not be had. */
import { deepEqual } from "../../../../apimachinery/json.ts";
import { quantityValue } from "../../../../apimachinery/quantity.ts";
import { classOfClaim, classOfVolume, isFor } from "./claim-facts.ts";
import type { DeepReadonly } from "../../../../apimachinery/json.ts";
import type { CSIDriver, CSIStorageCapacity, StorageClass } from "../../../../api/storage-v1/types.ts";
import type { ClusterEvent } from "../../../framework/cluster-event.ts";
import type { PodInfo } from "../../../state/pod-info.ts";
import type { Claim, Volume, VolumeWorld } from "./volume-world.ts";

/** Whether the event is about one of the pod's own claims. */
export function isAboutClaimOf(pod: PodInfo, { old, current }: ClusterEvent): boolean {
  const { namespace, name } = (current ?? old)?.metadata ?? {};
  return namespace === pod.namespace && name !== undefined && pod.claimNames.includes(name);
}

/** Whether a volume is one that a claim of the pod has, or could have. */
export function isAboutVolumeOf(pod: PodInfo, { current }: ClusterEvent, world: VolumeWorld): boolean {
  const volume = current as Volume;
  return claimsOf(pod, world).some((claim) => {
    const { volumeName = "" } = claim.spec ?? {};
    if (volumeName !== "") return volumeName === volume.metadata.name;
    return isFor(volume, claim) || (volume.spec?.claimRef === undefined && classOfVolume(volume) === classOfClaim(claim));
  });
}

/** Whether a class that an unbound claim of the pod names is there at last, or allows more nodes than before. */
export function isAboutClassOf(pod: PodInfo, { old, current }: ClusterEvent, world: VolumeWorld): boolean {
  const [before, after] = [old, current].map((one) => one as DeepReadonly<StorageClass> | undefined);
  if (before !== undefined && deepEqual(before.allowedTopologies, after?.allowedTopologies)) return false;
  return claimsOf(pod, world).some((claim) => (claim.spec?.volumeName ?? "") === "" && classOfClaim(claim) === after?.metadata.name);
}

/** Whether a driver no longer has its capacity looked at. */
export function stopsCounting({ old, current }: ClusterEvent): boolean {
  const counts = (one: ClusterEvent["old"]) => (one as DeepReadonly<CSIDriver> | undefined)?.spec?.storageCapacity === true;
  return counts(old) && !counts(current);
}

/** Whether there is more room for volumes of a class that the pod waits for. */
export function hasMoreRoom(pod: PodInfo, { old, current }: ClusterEvent, world: VolumeWorld): boolean {
  const [before, after] = [old, current].map((one) => one as DeepReadonly<CSIStorageCapacity> | undefined);
  if (!claimsOf(pod, world).some((claim) => classOfClaim(claim) === after?.storageClassName)) return false;
  const roomOf = (one: typeof after) => quantityValue(one?.maximumVolumeSize ?? one?.capacity ?? 0);
  return before === undefined || roomOf(after) > roomOf(before) || !deepEqual(before.nodeTopology, after?.nodeTopology);
}

function claimsOf(pod: PodInfo, world: VolumeWorld): readonly Claim[] {
  return pod.claimNames.flatMap((name) => world.claim(pod.namespace, name) ?? []);
}
