/** StorageObjectInUseProtection: volumes, claims and volume attributes classes are not deleted while used (documentation page "Persistent Volumes"). */
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumes: "kubernetes.io/pv-protection",
  persistentvolumeclaims: "kubernetes.io/pvc-protection",
  volumeattributesclasses: "kubernetes.io/vac-protection",
};

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  operations: new Set(["CREATE"]),
  resources: new Set(["/persistentvolumes", "/persistentvolumeclaims", "storage.k8s.io/volumeattributesclasses"]),
  mutate,
};

function mutate({ definition, object, subresource }: AdmissionRequest): void {
  if (subresource !== "") return;
  const finalizer = finalizers[definition.resource]!;
  const metadata = object!.metadata;
  if ((metadata.finalizers ?? []).includes(finalizer)) return;
  metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
}
