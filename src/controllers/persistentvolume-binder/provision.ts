import { edited, resources } from "../../client/index.ts";
import { updateAction } from "../../operator/index.ts";
import { claimEvent } from "./binding.ts";
import { classNameOf } from "./match.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolumeClaim } from "../../api/core-v1/types.ts";
import type { StorageClass } from "../../api/storage-v1/types.ts";
import type { Action } from "../../operator/index.ts";

/** Asks the provisioner of the claim's class for a volume: the request is an annotation on the claim, which the provisioner watches. */
export function provisionActions(claim: DeepReadonly<PersistentVolumeClaim>, storageClass: DeepReadonly<StorageClass> | undefined): Action[] {
  const failed = (message: string) => [claimEvent(claim, { type: "Warning", reason: "ProvisioningFailed", message })];
  if (storageClass === undefined) return failed(`storageclass.storage.k8s.io "${classNameOf(claim)}" not found`);
  const provisioner = successors[storageClass.provisioner] ?? storageClass.provisioner;
  if (provisioner.startsWith("kubernetes.io/")) return failed(`no volume plugin matched name: ${provisioner}`);
  const tell = claimEvent(claim, {
    type: "Normal",
    reason: "ExternalProvisioning",
    message: `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
  });
  if (requests.every((annotation) => claim.metadata.annotations?.[annotation] === provisioner)) return [tell];
  return [askFor(claim, provisioner, tell)];
}

const requests = ["volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner"];

/** CSI drivers that took over from the provisioners once built in. */
const successors: Readonly<Record<string, string>> = {
  "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
  "kubernetes.io/azure-disk": "disk.csi.azure.com",
  "kubernetes.io/azure-file": "file.csi.azure.com",
  "kubernetes.io/cinder": "cinder.csi.openstack.org",
  "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
  "kubernetes.io/portworx-volume": "pxd.portworx.com",
  "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
};

function askFor(claim: DeepReadonly<PersistentVolumeClaim>, provisioner: string, tell: Action): Action {
  const updated = edited<PersistentVolumeClaim>(claim, (draft) => {
    draft.metadata.annotations = { ...draft.metadata.annotations, ...Object.fromEntries(requests.map((annotation) => [annotation, provisioner])) };
  });
  return updateAction(resources.persistentVolumeClaims, updated, { onDone: () => [tell] });
}
