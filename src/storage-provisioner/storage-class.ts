import type { StorageClass } from "../api/storage-v1/types.ts";
import { provisionerName } from "./plan.ts";

/** The cluster's default class: a claim waits for its first pod, whose node then holds the directory. */
export const defaultStorageClass: StorageClass = {
  metadata: { name: "local-path", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: provisionerName,
  reclaimPolicy: "Delete",
  volumeBindingMode: "WaitForFirstConsumer",
};
