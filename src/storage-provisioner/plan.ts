/** What the provisioner does for a claim and for a volume. Pure. */
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim } from "../api/core-v1/types.ts";
import type { StorageClass } from "../api/storage-v1/types.ts";

export const provisionerName = "coracle.dev/local-path";
/** Keeps a volume in the API until its directory is gone. */
export const finalizer = "coracle.dev/local-path";
export const annotations = {
  provisioner: "volume.kubernetes.io/storage-provisioner",
  selectedNode: "volume.kubernetes.io/selected-node",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
} as const;

export interface ClaimSnapshot {
  readonly claim: DeepReadonly<PersistentVolumeClaim>;
  readonly storageClass: DeepReadonly<StorageClass> | undefined;
  /** That the scheduler has chosen; undefined when it is gone. */
  readonly node: DeepReadonly<Node> | undefined;
  /** A volume for the claim is there already. */
  readonly hasVolume: boolean;
}

export type ClaimDecision =
  | { readonly kind: "none" }
  /** Tells of it and waits for a change. */
  | { readonly kind: "refuse"; readonly message: string }
  /** The scheduler has to choose again. */
  | { readonly kind: "reschedule"; readonly message: string }
  | { readonly kind: "provision"; readonly volumeName: string; readonly directory: string };

export function planClaim({ claim, storageClass, node, hasVolume }: ClaimSnapshot): ClaimDecision {
  const { metadata, spec = {}, status } = claim;
  const marks = metadata.annotations ?? {};
  const isAsked = marks[annotations.provisioner] === provisionerName && (spec.volumeName ?? "") === "" && status?.phase !== "Bound";
  if (!isAsked || hasVolume || metadata.deletionTimestamp !== undefined || storageClass?.provisioner !== provisionerName) return { kind: "none" };
  const chosen = marks[annotations.selectedNode];
  if (chosen === undefined) {
    if (storageClass.volumeBindingMode === "WaitForFirstConsumer") return { kind: "none" };
    return {
      kind: "refuse",
      message: refusal(storageClass, "no node was chosen: directories of a node need a class with volumeBindingMode WaitForFirstConsumer"),
    };
  }
  if (spec.volumeMode === "Block") return { kind: "refuse", message: refusal(storageClass, "directories cannot be block devices") };
  if (spec.selector !== undefined) return { kind: "refuse", message: refusal(storageClass, "claim.Spec.Selector is not supported") };
  if (spec.dataSourceRef !== undefined || spec.dataSource !== undefined)
    return { kind: "refuse", message: refusal(storageClass, "claims with a data source are not supported") };
  if (node === undefined) return { kind: "reschedule", message: refusal(storageClass, `node ${JSON.stringify(chosen)} is gone`) };
  const volumeName = `pvc-${metadata.uid}`;
  // People find the claim by it. Names can be long; a file's name ends at 255.
  return { kind: "provision", volumeName, directory: `${volumeName}_${metadata.namespace}_${metadata.name}`.slice(0, 255) };
}

function refusal({ metadata }: DeepReadonly<StorageClass>, why: string): string {
  return `failed to provision volume with StorageClass ${JSON.stringify(metadata.name)}: ${why}`;
}

/** The volume that a claim gets: a directory of one node, for whatever the claim asks. */
export function newVolume(snapshot: ClaimSnapshot, volumeName: string, path: string): PersistentVolume {
  const { claim, storageClass, node } = snapshot;
  const { reclaimPolicy = "Delete", mountOptions = [] } = storageClass ?? {};
  const hostname = node?.metadata.labels?.["kubernetes.io/hostname"] ?? node?.metadata.name ?? "";
  return {
    metadata: { name: volumeName, annotations: { [annotations.provisionedBy]: provisionerName }, finalizers: [finalizer] },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.["storage"] ?? "0" },
      accessModes: [...(claim.spec?.accessModes ?? [])],
      volumeMode: "Filesystem",
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: claim.spec?.storageClassName ?? "",
      ...(mountOptions.length > 0 && { mountOptions: [...mountOptions] }),
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [hostname] }] }] } },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: claim.metadata.namespace ?? "",
        name: claim.metadata.name ?? "",
        ...(claim.metadata.uid !== undefined && { uid: claim.metadata.uid }),
        ...(claim.metadata.resourceVersion !== undefined && { resourceVersion: claim.metadata.resourceVersion }),
      },
    },
  };
}

/**
 * - delete: the directory goes, then the object
 * - finish: somebody deleted the object: its directory goes, as the reclaim policy says, and then the object may
 */
export type VolumeDecision =
  | { readonly kind: "none" }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "finish"; readonly path: string | undefined };

export function planVolume({ metadata, spec, status }: DeepReadonly<PersistentVolume>): VolumeDecision {
  if (metadata.annotations?.[annotations.provisionedBy] !== provisionerName) return { kind: "none" };
  const path = spec?.persistentVolumeReclaimPolicy === "Delete" ? spec.local?.path : undefined;
  if (metadata.deletionTimestamp !== undefined) {
    const finalizers = metadata.finalizers ?? [];
    // The last of them, so that nobody uses it any more.
    return finalizers.length === 1 && finalizers[0] === finalizer ? { kind: "finish", path } : { kind: "none" };
  }
  return status?.phase === "Released" && path !== undefined ? { kind: "delete", path } : { kind: "none" };
}
