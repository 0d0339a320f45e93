/** PodGroupProtection, and StorageObjectInUseProtection: volumes, claims and volume attributes classes are not deleted while used (documentation page "Persistent Volumes"). */
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumes: "kubernetes.io/pv-protection",
  persistentvolumeclaims: "kubernetes.io/pvc-protection",
  volumeattributesclasses: "kubernetes.io/vac-protection",
};

/** Holds a group of pods until none of them is left. */
const groupFinalizer = "scheduling.k8s.io/podgroup-protection";

export const podGroupProtection: AdmissionPlugin = {
  name: "PodGroupProtection",
  operations: new Set(["CREATE"]),
  resources: new Set(["scheduling.k8s.io/podgroups"]),
  mutate: ({ object, subresource }) => (subresource === "" ? hold(object!.metadata, groupFinalizer) : undefined),
};

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  operations: new Set(["CREATE"]),
  resources: new Set(["/persistentvolumes", "/persistentvolumeclaims", "storage.k8s.io/volumeattributesclasses"]),
  mutate,
};

function mutate({ definition, object, subresource }: AdmissionRequest): void {
  if (subresource !== "") return;
  hold(object!.metadata, finalizers[definition.resource]!);
}

function hold(metadata: ObjectMeta, finalizer: string): void {
  if ((metadata.finalizers ?? []).includes(finalizer)) return;
  metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
}
