import type { Lister } from "../../client/index.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ClusterObjects } from "../state/snapshot.ts";

/** Caches that hold nothing but what is given: for decisions outside of a cluster. */
export function emptyObjects(given: Partial<ClusterObjects> = {}): ClusterObjects {
  return {
    namespaces: nothing(),
    services: nothing(),
    replicationControllers: nothing(),
    replicaSets: nothing(),
    statefulSets: nothing(),
    persistentVolumes: nothing(),
    persistentVolumeClaims: nothing(),
    storageClasses: nothing(),
    csiNodes: nothing(),
    csiDrivers: nothing(),
    csiStorageCapacities: nothing(),
    volumeAttachments: nothing(),
    podDisruptionBudgets: nothing(),
    resourceClaims: nothing(),
    resourceSlices: nothing(),
    deviceClasses: nothing(),
    deviceTaintRules: nothing(),
    ...given,
  };
}

function nothing<T extends KubeObject>(): Lister<T> {
  return { get: () => undefined, list: () => [], byIndex: () => [] };
}
