/** PersistentVolumeClaimResize: only claims whose class allows expansion may grow. */
import type { PersistentVolumeClaim } from "../../../api/core-v1/types.ts";
import type { StorageClass } from "../../../api/storage-v1/types.ts";
import { compareQuantities } from "../../../apimachinery/quantity.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";

export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: "PersistentVolumeClaimResize",
  operations: new Set(["UPDATE"]),
  resources: new Set(["/persistentvolumeclaims"]),
  validate,
};

function validate(request: AdmissionRequest): void {
  if (request.subresource !== "") return;
  const claim = request.object as unknown as PersistentVolumeClaim;
  const old = request.oldObject as unknown as PersistentVolumeClaim;
  const size = (of: PersistentVolumeClaim) => of.spec?.resources?.requests?.["storage"] ?? 0;
  if (old.status?.phase !== "Bound" || compareQuantities(size(claim), size(old)) <= 0) return;
  const className = claim.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? claim.spec?.storageClassName ?? "";
  const storageClass =
    className === "" ? undefined : (findObject(request.context.server, "storage.k8s.io/storageclasses", "", className) as unknown as StorageClass | undefined);
  if (storageClass?.allowVolumeExpansion === true) return;
  throw refuse(request, "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize");
}
