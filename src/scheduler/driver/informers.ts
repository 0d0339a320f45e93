import { resources } from "../../client/index.ts";
import { podInfoOf } from "../state/pod-info.ts";
import { nodeEvents, podEvents } from "./change-events.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { Change, InformerSet, ResourceType } from "../../client/index.ts";
import type { ClusterEvent, EventResource } from "../framework/cluster-event.ts";
import type { Profile } from "../framework/profile.ts";
import type { SchedulingQueue } from "../queue/scheduling-queue.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { PodGroups } from "../state/pod-groups.ts";
import type { ClusterObjects } from "../state/snapshot.ts";

/** Pods that have ended need no room: to us they are gone. */
export const livePods = { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" };

/** The caches that plugins look into. */
export function clusterObjects(informers: InformerSet): ClusterObjects {
  return {
    namespaces: informers.get(resources.namespaces),
    services: informers.get(resources.services),
    replicationControllers: informers.get(resources.replicationControllers),
    replicaSets: informers.get(resources.replicaSets),
    statefulSets: informers.get(resources.statefulSets),
    persistentVolumes: informers.get(resources.persistentVolumes),
    persistentVolumeClaims: informers.get(resources.persistentVolumeClaims),
    storageClasses: informers.get(resources.storageClasses),
    csiNodes: informers.get(resources.csiNodes),
    csiDrivers: informers.get(resources.csiDrivers),
    csiStorageCapacities: informers.get(resources.csiStorageCapacities),
    volumeAttachments: informers.get(resources.volumeAttachments),
    podDisruptionBudgets: informers.get(resources.podDisruptionBudgets),
    resourceClaims: informers.get(resources.resourceClaims),
    resourceSlices: informers.get(resources.resourceSlices),
    deviceClasses: informers.get(resources.deviceClasses),
    deviceTaintRules: informers.get(resources.deviceTaintRules),
  };
}

/** Feeds the state and the queue from the informers. */
export function followCluster({ informers, state, queue, profiles, podGroups }: ClusterFollower): void {
  const isOurs = (pod: DeepReadonly<Pod>) => profiles.has(pod.spec?.schedulerName ?? "");
  informers.get(resources.nodes).subscribe((change) => onNode(change, state, queue));
  informers.get(resources.pods, livePods).subscribe((change) => onPod(change, { state, queue, isOurs, podGroups }));
  if (podGroups !== undefined) informers.get(resources.podGroups).subscribe((change) => queue.move(eventOf("PodGroup", change)));
  informers.get(resources.namespaces).subscribe(() => state.relabelNamespaces());
  // A taint that is lifted frees devices as a changed slice does.
  informers.get(resources.deviceTaintRules).subscribe(({ object }) => queue.move({ resource: "ResourceSlice", action: "Update", current: object }));
  for (const [resource, type] of otherResources) informers.get(type).subscribe((change) => queue.move(eventOf(resource, change)));
}

function eventOf(resource: EventResource, { kind, object, old }: Change<KubeObject>): ClusterEvent {
  const action = kind === "add" ? "Add" : kind === "delete" ? "Delete" : "Update";
  return { resource, action, old: kind === "delete" ? object : old, current: kind === "delete" ? undefined : object };
}

export interface ClusterFollower {
  readonly informers: InformerSet;
  readonly state: ClusterState;
  readonly queue: SchedulingQueue;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly podGroups?: PodGroups | undefined;
}

const otherResources: readonly [EventResource, ResourceType<KubeObject>][] = [
  ["PersistentVolume", resources.persistentVolumes],
  ["PersistentVolumeClaim", resources.persistentVolumeClaims],
  ["StorageClass", resources.storageClasses],
  ["CSINode", resources.csiNodes],
  ["CSIDriver", resources.csiDrivers],
  ["CSIStorageCapacity", resources.csiStorageCapacities],
  ["VolumeAttachment", resources.volumeAttachments],
  ["ResourceClaim", resources.resourceClaims],
  ["ResourceSlice", resources.resourceSlices],
  ["DeviceClass", resources.deviceClasses],
].map(([name, type]) => [name as EventResource, type as unknown as ResourceType<KubeObject>]);

function onNode(change: Change<Node>, state: ClusterState, queue: SchedulingQueue): void {
  const { object } = change;
  switch (change.kind) {
    case "add":
      state.putNode(object);
      return queue.move({ resource: "Node", action: "Add", current: object });
    case "update":
      state.putNode(object);
      for (const event of nodeEvents(change.old, object)) queue.move(event);
      return;
    case "delete":
      state.removeNode(object.metadata.name ?? "");
      return queue.move({ resource: "Node", action: "Delete", old: object });
  }
}

interface PodFollower {
  readonly state: ClusterState;
  readonly queue: SchedulingQueue;
  readonly isOurs: (pod: DeepReadonly<Pod>) => boolean;
  readonly podGroups: PodGroups | undefined;
}

function onPod(change: Change<Pod>, follower: PodFollower): void {
  const { object: pod, old } = change;
  if (change.kind === "delete") follower.podGroups?.remove(podInfoOf(pod));
  else follower.podGroups?.put(podInfoOf(pod));
  if (change.kind === "delete") return (pod.spec?.nodeName ?? "") === "" ? onWaitingGone(pod, follower) : onAssignedGone(pod, follower);
  if ((pod.spec?.nodeName ?? "") !== "") onAssigned(pod, old, follower);
  else if (follower.isOurs(pod)) onWaiting(pod, old, follower);
}

function onAssigned(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod> | undefined, { state, queue }: PodFollower): void {
  const info = podInfoOf(pod);
  state.withdrawNomination(info.uid);
  state.putPod(info, pod.spec?.nodeName ?? "");
  const wasWaiting = old === undefined || (old.spec?.nodeName ?? "") === "";
  if (wasWaiting) {
    queue.delete(info.uid);
    queue.move({ resource: "AssignedPod", action: "Add", current: pod });
  } else for (const event of podEvents("AssignedPod", old, pod)) queue.move(event);
}

function onWaiting(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod> | undefined, { state, queue, podGroups }: PodFollower): void {
  const info = podInfoOf(pod);
  const nominated = pod.status?.nominatedNodeName ?? "";
  // While a nomination of ours is still being written, the API does not know it.
  if (nominated !== "") state.nominate(info, nominated);
  else if ((old?.status?.nominatedNodeName ?? "") !== "") state.withdrawNomination(info.uid);
  if (old === undefined) {
    queue.add(info);
    if (podGroups !== undefined) queue.move({ resource: "UnscheduledPod", action: "Add", current: pod });
    return;
  }
  if (state.isAssumed(info.uid)) return;
  queue.update(info, podEvents("TargetPod", old, pod));
}

function onAssignedGone(pod: DeepReadonly<Pod>, { state, queue }: PodFollower): void {
  state.removePod(pod.metadata.uid ?? "");
  queue.move({ resource: "AssignedPod", action: "Delete", old: pod });
}

function onWaitingGone(pod: DeepReadonly<Pod>, { state, queue }: PodFollower): void {
  const uid = pod.metadata.uid ?? "";
  queue.delete(uid);
  const wasAssumed = state.isAssumed(uid);
  state.removePod(uid);
  const isNominated = (pod.status?.nominatedNodeName ?? "") !== "";
  state.withdrawNomination(uid);
  // The room it was promised, or had taken, is free.
  if (isNominated || wasAssumed) queue.move({ resource: "AssignedPod", action: "Delete", old: pod });
}
