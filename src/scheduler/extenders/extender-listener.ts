import type { EventAction, EventResource } from "../framework/cluster-event.ts";
import type { Plugin } from "../framework/plugin.ts";

/** What refusals by extenders are counted under. */
export const extenderPlugin = "Extender";

const resources: readonly EventResource[] = [
  "AssignedPod",
  "TargetPod",
  "Node",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "CSINode",
  "CSIDriver",
  "CSIStorageCapacity",
  "VolumeAttachment",
  "StorageClass",
  "ResourceClaim",
  "ResourceSlice",
  "DeviceClass",
  "Namespace",
];
const actions: readonly EventAction[] = ["Add", "Update", "Delete"];

/** Stands for the extenders in the queue: nobody knows what they look at, so anything may make them think again. */
export const extenderListener: Plugin = { name: extenderPlugin, events: resources.map((resource) => ({ resource, actions })) };
