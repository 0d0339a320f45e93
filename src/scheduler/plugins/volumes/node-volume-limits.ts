import { unschedulable } from "../../framework/refusal.ts";
import { podInfoOf } from "../../state/pod-info.ts";
import { isAboutClaimOf } from "./volume-binding/volume-events.ts";
import { csiVolumesOf } from "./csi-volumes.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { CSIDriver, CSINode, VolumeAttachment } from "../../../api/storage-v1/types.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { NodeFilter, Plugin } from "../../framework/plugin.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { VolumeWorld } from "./volume-binding/volume-world.ts";

/** A node takes no more volumes of a CSI driver than the driver says it can have there. */
export function nodeVolumeLimits(world: VolumeWorld): Plugin {
  return {
    name: "NodeVolumeLimits",
    events: [
      { resource: "CSINode", actions: ["Add", "Update"], helps: (pod, event) => takesMore(pod, event, world) },
      { resource: "CSIDriver", actions: ["Update", "Delete"], helps: (pod, event) => stopsGuarding(pod, event, world) },
      { resource: "AssignedPod", actions: ["Delete"], helps: (pod, { old }) => freesVolumes(pod, podInfoOf(old as DeepReadonly<Pod>), world) },
      { resource: "PersistentVolumeClaim", actions: ["Add", "Update"], helps: isAboutClaimOf },
      {
        resource: "VolumeAttachment",
        actions: ["Delete"],
        helps: (pod, { old }) => new Set(csiVolumesOf(pod, world).values()).has((old as Attachment | undefined)?.spec?.attacher ?? ""),
      },
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
  const attachments = attachmentsByNode(world);
  return {
    refuse(node) {
      const csiNode = csiNodes.get("", node.name);
      for (const driver of guarded) if (!isInstalled(csiNode, driver)) return unschedulable(`${driver} CSI driver is not installed on the node`);
      const limits = limitsOf(csiNode, drivers);
      if (limits.size === 0) return undefined;
      const attached = attachments.get(node.name) ?? none;
      // Where there is room for whatever the pods may have, nobody has to look at what it is.
      const most = wanted.size + attached.length + node.pods.reduce((sum, { claimNames }) => sum + claimNames.length, 0);
      if (limits.values().every((limit) => most <= limit)) return undefined;
      return isOver({ wanted, limits, inUse: volumesOn(node, attached, world) }) ? tooMany : undefined;
    },
  };
}

const none: readonly never[] = [];

type Attachment = DeepReadonly<VolumeAttachment>;

function attachmentsByNode({ objects }: VolumeWorld): ReadonlyMap<string, readonly Attachment[]> {
  return Map.groupBy(objects.volumeAttachments.list(), ({ spec }) => spec?.nodeName ?? "");
}

function isInstalled(csiNode: DeepReadonly<CSINode> | undefined, driver: string): boolean {
  return csiNode?.spec?.drivers?.some(({ name }) => name === driver) === true;
}

/** How many volumes of each driver the node takes, of the drivers that say so. */
function limitsOf(csiNode: DeepReadonly<CSINode> | undefined, drivers: ReadonlySet<string>): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  for (const { name, allocatable } of csiNode?.spec?.drivers ?? [])
    if (drivers.has(name) && allocatable?.count !== undefined) limits.set(name, allocatable.count);
  return limits;
}

interface Volumes {
  readonly wanted: ReadonlyMap<string, string>;
  readonly limits: ReadonlyMap<string, number>;
  readonly inUse: ReadonlyMap<string, string>;
}

function isOver({ wanted, limits, inUse }: Volumes): boolean {
  return limits.entries().some(([driver, limit]) => {
    const used = new Set(Array.from(inUse).flatMap(([volume, of]) => (of === driver ? [volume] : [])));
    const more = Array.from(wanted).filter(([volume, of]) => of === driver && !used.has(volume)).length;
    return more > 0 && used.size + more > limit;
  });
}

/** Volumes in use on the node, or attached to it for whatever reason, with their driver. */
function volumesOn(node: NodeInfo, attachments: readonly Attachment[], world: VolumeWorld): ReadonlyMap<string, string> {
  const volumes = new Map<string, string>();
  for (const pod of node.pods) for (const [volume, driver] of csiVolumesOf(pod, world)) volumes.set(volume, driver);
  for (const { spec } of attachments) {
    const source = world.volume(spec?.source.persistentVolumeName ?? "")?.spec?.csi ?? spec?.source.inlineVolumeSpec?.csi;
    if (source !== undefined) volumes.set(`${source.driver}/${source.volumeHandle}`, source.driver);
  }
  return volumes;
}

/** Whether a driver that the pod needs now takes more volumes on the node than before, or any number of them. */
function takesMore(pod: PodInfo, { old, current }: ClusterEvent, world: VolumeWorld): boolean {
  const drivers = new Set(csiVolumesOf(pod, world).values());
  const [before, after] = [old, current].map((one) => one as DeepReadonly<CSINode> | undefined);
  if (before === undefined) return (after?.spec?.drivers ?? []).some(({ name }) => drivers.has(name));
  const limitOf = (csiNode: DeepReadonly<CSINode> | undefined, driver: string) =>
    isInstalled(csiNode, driver) ? (limitsOf(csiNode, drivers).get(driver) ?? Number.POSITIVE_INFINITY) : -1;
  return drivers.values().some((driver) => limitOf(after, driver) > limitOf(before, driver));
}

/** Whether a driver that the pod needs no longer keeps pods from nodes where it is not installed. */
function stopsGuarding(pod: PodInfo, { old, current }: ClusterEvent, world: VolumeWorld): boolean {
  const isGuard = (one: ClusterEvent["old"]) => (one as DeepReadonly<CSIDriver> | undefined)?.spec?.preventPodSchedulingIfMissing === true;
  return isGuard(old) && !isGuard(current) && new Set(csiVolumesOf(pod, world).values()).has(old?.metadata.name ?? "");
}

/** Whether a pod that is gone may have had a volume of a driver that the pod needs. */
function freesVolumes(pod: PodInfo, gone: PodInfo, world: VolumeWorld): boolean {
  if (gone.claimNames.length === 0) return false;
  const drivers = new Set(csiVolumesOf(pod, world).values());
  // Its claims may be gone already: then nobody knows whose they were.
  const freed = [...csiVolumesOf(gone, world).values()];
  return freed.length < gone.claimNames.length || freed.some((driver) => drivers.has(driver));
}
