import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { PodInfo } from "../state/pod-info.ts";

/** Something happened that may let waiting pods be scheduled. An update of an object gives one event for each kind of change in it. */
export interface ClusterEvent {
  readonly resource: EventResource;
  readonly action: EventAction;
  readonly old?: DeepReadonly<KubeObject> | undefined;
  /** Absent after a deletion. */
  readonly current?: DeepReadonly<KubeObject> | undefined;
}

/** `AssignedPod` has a node, `TargetPod` is the waiting pod itself, `UnscheduledPod` another that waits; `*` is anything. */
export type EventResource =
  | "AssignedPod"
  | "TargetPod"
  | "UnscheduledPod"
  | "PodGroup"
  | "Node"
  | "PersistentVolume"
  | "PersistentVolumeClaim"
  | "CSINode"
  | "CSIDriver"
  | "CSIStorageCapacity"
  | "VolumeAttachment"
  | "StorageClass"
  | "ResourceClaim"
  | "ResourceSlice"
  | "DeviceClass"
  | "Namespace"
  | "*";

/** What happened to an object; `UpdateNode…` and `UpdatePod…` tell what changed in it. */
export type EventAction =
  | "Add"
  | "Delete"
  | "Update"
  | "UpdateNodeAllocatable"
  | "UpdateNodeLabel"
  | "UpdateNodeTaint"
  | "UpdateNodeCondition"
  | "UpdateNodeAnnotation"
  | "UpdateNodeDeclaredFeature"
  | "UpdatePodLabel"
  | "UpdatePodScaleDown"
  | "UpdatePodToleration"
  | "UpdatePodSchedulingGatesEliminated"
  | "UpdatePodGeneratedResourceClaim";

/** What a plugin wants to hear of, and whether it helps a pod that the plugin refused (KEP-4247). Without `helps`, it always may. */
export interface EventHint {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  readonly helps?: (pod: PodInfo, event: ClusterEvent) => boolean;
}

/** `Update` of a hint stands for every kind of update. */
export function concerns(hint: EventHint, event: ClusterEvent): boolean {
  if (event.resource === "*") return true;
  if (hint.resource !== event.resource) return false;
  return hint.actions.includes(event.action) || (event.action.startsWith("Update") && hint.actions.includes("Update"));
}
