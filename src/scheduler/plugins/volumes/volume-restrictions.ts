import { unschedulable } from "../../framework/refusal.ts";
import { podInfoOf } from "../../state/pod-info.ts";
import { isAboutClaimOf } from "./volume-binding/volume-events.ts";
import { isExclusiveDisk, isInConflict } from "./disk-conflict.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { VolumeWorld } from "./volume-binding/volume-world.ts";

/** Disks that only one pod of a node may use, and claims that only one pod of the cluster may (ReadWriteOncePod, KEP-2485). */
export function volumeRestrictions(world: VolumeWorld): Plugin {
  return {
    name: "VolumeRestrictions",
    events: [
      {
        resource: "AssignedPod",
        actions: ["Delete"],
        helps: (pod, { old }) => old !== undefined && mayFree(podInfoOf(old as DeepReadonly<Pod>), pod),
      },
      { resource: "Node", actions: ["Add"] },
      { resource: "PersistentVolumeClaim", actions: ["Add", "Update"], helps: isAboutClaimOf },
    ],
    preFilter({ pod, snapshot }) {
      const disks = pod.pod.spec?.volumes?.filter(isExclusiveDisk) ?? [];
      const exclusive = pod.claimNames.filter((name) => world.claim(pod.namespace, name)?.spec?.accessModes?.includes("ReadWriteOncePod") === true);
      const users = exclusive.reduce((sum, name) => sum + snapshot.claimUsers(`${pod.namespace}/${name}`), 0);
      if (disks.length === 0 && users === 0) return "skip";
      return exclusiveFilter(pod, exclusive, users);
    },
  };
}

const diskTaken = unschedulable("node(s) had no available disk");
const claimTaken = unschedulable("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod");

function exclusiveFilter(pod: PodInfo, exclusive: readonly string[], users: number): ReturnType<NonNullable<Plugin["preFilter"]>> {
  const uses = (other: PodInfo) => (other.namespace === pod.namespace ? exclusive.filter((name) => other.claimNames.includes(name)).length : 0);
  const filter = (count: number) => ({
    refuse: ({ pods }: { readonly pods: readonly PodInfo[] }) => (pods.some((other) => conflicts(pod, other)) ? diskTaken : count > 0 ? claimTaken : undefined),
    withPod: (other: PodInfo) => filter(count + uses(other)),
    withoutPod: (other: PodInfo) => filter(count - uses(other)),
  });
  return filter(users) as ReturnType<NonNullable<Plugin["preFilter"]>>;
}

function conflicts(pod: PodInfo, other: PodInfo): boolean {
  return pod.pod.spec?.volumes?.some((volume) => other.pod.spec?.volumes?.some((one) => isInConflict(volume, one)) === true) === true;
}

function mayFree(gone: PodInfo, pod: PodInfo): boolean {
  return conflicts(pod, gone) || (gone.namespace === pod.namespace && pod.claimNames.some((name) => gone.claimNames.includes(name)));
}
