import { unschedulable } from "../../framework/refusal.ts";
import { isAboutClaimOf } from "./volume-binding.ts";
import { csiVolumesOf } from "./csi-volumes.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { CSINode } from "../../../api/storage-v1/types.ts";
import type { NodeFilter, Plugin } from "../../framework/plugin.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { VolumeWorld } from "./volume-binding/volume-world.ts";

/** A node takes no more volumes of a CSI driver than the driver says it can have there. */
export function nodeVolumeLimits(world: VolumeWorld): Plugin {
  return {
    name: "NodeVolumeLimits",
    events: [
      { resource: "CSINode", actions: ["Add", "Update"] },
      { resource: "AssignedPod", actions: ["Delete"] },
      { resource: "PersistentVolumeClaim", actions: ["Add", "Update"], helps: isAboutClaimOf },
      { resource: "VolumeAttachment", actions: ["Delete"] },
    ],
    preFilter({ pod }) {
      const volumes = csiVolumesOf(pod, world);
      if (volumes.size === 0) return "skip";
      return filterOf(volumes, world);
    },
  };
}

const tooMany = unschedulable("node(s) exceed max volume count");

/** `wanted`: driver by volume, both of the pod. */
function filterOf(wanted: ReadonlyMap<string, string>, world: VolumeWorld): NodeFilter {
  const { csiNodes, csiDrivers } = world.objects;
  const drivers = new Set(wanted.values());
  const guarded = [...drivers].filter((driver) => csiDrivers.get("", driver)?.spec?.preventPodSchedulingIfMissing === true);
  return {
    refuse(node) {
      const csiNode = csiNodes.get("", node.name);
      for (const driver of guarded) if (!isInstalled(csiNode, driver)) return unschedulable(`${driver} CSI driver is not installed on the node`);
      if (csiNode === undefined) return undefined;
      const attached = attachedTo(node, world);
      for (const driver of drivers) {
        const limit = csiNode.spec?.drivers?.find(({ name }) => name === driver)?.allocatable?.count;
        if (limit === undefined) continue;
        const used = new Set(Array.from(attached).flatMap(([volume, of]) => (of === driver ? [volume] : [])));
        const more = Array.from(wanted).filter(([volume, of]) => of === driver && !used.has(volume)).length;
        if (more > 0 && used.size + more > limit) return tooMany;
      }
      return undefined;
    },
  };
}

function isInstalled(csiNode: DeepReadonly<CSINode> | undefined, driver: string): boolean {
  return csiNode?.spec?.drivers?.some(({ name }) => name === driver) === true;
}

/** Volumes in use on the node, or attached to it for whatever reason, with their driver. */
function attachedTo(node: NodeInfo, world: VolumeWorld): ReadonlyMap<string, string> {
  const attached = new Map<string, string>();
  for (const pod of node.pods) for (const [volume, driver] of csiVolumesOf(pod, world)) attached.set(volume, driver);
  for (const { spec } of world.objects.volumeAttachments.list()) {
    if (spec?.nodeName !== node.name) continue;
    const source = world.volume(spec.source.persistentVolumeName ?? "")?.spec?.csi ?? spec.source.inlineVolumeSpec?.csi;
    if (source !== undefined) attached.set(`${source.driver}/${source.volumeHandle}`, source.driver);
  }
  return attached;
}
