import type { Lister } from "../../client/index.ts";
import type { ReplicaSet, StatefulSet } from "../../api/apps-v1/types.ts";
import type { Namespace, PersistentVolume, PersistentVolumeClaim, ReplicationController, Service } from "../../api/core-v1/types.ts";
import type { PodDisruptionBudget } from "../../api/policy-v1/types.ts";
import type { DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice } from "../../api/resource-v1/types.ts";
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment } from "../../api/storage-v1/types.ts";
import type { NodeInfo } from "./node-info.ts";
import type { TermGroup, TermKind } from "./affinity-terms.ts";
import type { DomainPods } from "./domain-pods.ts";
import type { PodGroupQuery } from "./pod-counts.ts";
import type { PodInfo } from "./pod-info.ts";

/** What decisions are made on. It does not change while one is made. */
export interface Snapshot {
  /** In the order in which nodes are looked at: one zone after the other. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Where among `nodes` one of them is. */
  positionOf(node: NodeInfo): number;
  /** The affinity terms of the pods that run, each once. */
  affinityTerms(kind: TermKind): Iterable<TermGroup>;
  /** On how many nodes an image is. */
  imageNodes(name: string): number;
  readonly hasNominations: boolean;
  /** Pods that were promised room on a node. */
  nominatedTo(nodeName: string): readonly PodInfo[];
  /** How many pods use a claim (`namespace/name`). */
  claimUsers(claim: string): number;
  /** How many pods of a group there are where. */
  podCounts(query: PodGroupQuery): DomainPods;
  /** Grows whenever a node comes, goes or changes; not when its pods do. */
  readonly nodesVersion: number;
  readonly objects: ClusterObjects;
}

/** The caches of what else decisions depend on. */
export interface ClusterObjects {
  readonly namespaces: Lister<Namespace>;
  readonly services: Lister<Service>;
  readonly replicationControllers: Lister<ReplicationController>;
  readonly replicaSets: Lister<ReplicaSet>;
  readonly statefulSets: Lister<StatefulSet>;
  readonly persistentVolumes: Lister<PersistentVolume>;
  readonly persistentVolumeClaims: Lister<PersistentVolumeClaim>;
  readonly storageClasses: Lister<StorageClass>;
  readonly csiNodes: Lister<CSINode>;
  readonly csiDrivers: Lister<CSIDriver>;
  readonly csiStorageCapacities: Lister<CSIStorageCapacity>;
  readonly volumeAttachments: Lister<VolumeAttachment>;
  readonly podDisruptionBudgets: Lister<PodDisruptionBudget>;
  readonly resourceClaims: Lister<ResourceClaim>;
  readonly resourceSlices: Lister<ResourceSlice>;
  readonly deviceClasses: Lister<DeviceClass>;
  readonly deviceTaintRules: Lister<DeviceTaintRule>;
}
