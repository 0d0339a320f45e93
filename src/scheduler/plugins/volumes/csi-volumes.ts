import { classOfClaim } from "./volume-binding/claim-facts.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { VolumeWorld } from "./volume-binding/volume-world.ts";

/** The CSI volumes that a pod uses, or will when its claims are provisioned: an identity for each, with its driver. */
export function csiVolumesOf(pod: PodInfo, world: VolumeWorld): ReadonlyMap<string, string> {
  const volumes = new Map<string, string>();
  for (const name of pod.claimNames) {
    const claim = world.claim(pod.namespace, name);
    if (claim === undefined) continue;
    const csi = world.volume(claim.spec?.volumeName ?? "")?.spec?.csi;
    if (csi !== undefined) {
      volumes.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver);
      continue;
    }
    if ((claim.spec?.volumeName ?? "") !== "") continue;
    const provisioner = world.storageClass(classOfClaim(claim))?.provisioner ?? "";
    // Not provisioned yet: the claim stands for its volume.
    if (provisioner !== "") volumes.set(`${provisioner}-${pod.namespace}/${name}`, provisioner);
  }
  return volumes;
}
