import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { annotations, finalizer, newVolume, planClaim, planVolume, provisionerName } from "./plan.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim } from "../api/core-v1/types.ts";
import type { StorageClass } from "../api/storage-v1/types.ts";
import type { ClaimSnapshot } from "./plan.ts";

const asked = { [annotations.provisioner]: provisionerName };
const chosen = { ...asked, [annotations.selectedNode]: "n1" };
const claimOf = (marks: Record<string, string>, spec: PersistentVolumeClaim["spec"] = {}): PersistentVolumeClaim => ({
  metadata: { name: "c", namespace: "ns", uid: "u", annotations: marks },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "local-path", resources: { requests: { storage: "1Gi" } }, ...spec },
});
const classOf = (more: Partial<StorageClass> = {}): StorageClass => ({
  metadata: { name: "local-path" },
  provisioner: provisionerName,
  volumeBindingMode: "WaitForFirstConsumer",
  ...more,
});
const node: Node = { metadata: { name: "n1", labels: { "kubernetes.io/hostname": "host1" } } };

const claims: [title: string, snapshot: Partial<ClaimSnapshot> & { claim: PersistentVolumeClaim }, expected: string][] = [
  ["nobody asks", { claim: claimOf({}) }, "none"],
  ["waits for its first pod", { claim: claimOf(asked) }, "none"],
  ["a node is chosen", { claim: claimOf(chosen) }, "provision pvc-u pvc-u_ns_c"],
  ["has its volume", { claim: claimOf(chosen), hasVolume: true }, "none"],
  ["bound", { claim: claimOf(chosen, { volumeName: "pvc-u" }) }, "none"],
  ["the class is another's", { claim: claimOf(chosen), storageClass: classOf({ provisioner: "x" }) }, "none"],
  [
    "at once, without a node",
    { claim: claimOf(asked), storageClass: classOf({ volumeBindingMode: "Immediate" }) },
    'refuse failed to provision volume with StorageClass "local-path": no node was chosen: directories of a node need a class with volumeBindingMode WaitForFirstConsumer',
  ],
  ["the node is gone", { claim: claimOf(chosen), node: undefined }, 'reschedule failed to provision volume with StorageClass "local-path": node "n1" is gone'],
  [
    "a device",
    { claim: claimOf(chosen, { volumeMode: "Block" }) },
    'refuse failed to provision volume with StorageClass "local-path": directories cannot be block devices',
  ],
];
for (const [title, snapshot, expected] of claims) {
  test(`claim: ${title}`, () => {
    const decision = planClaim({ storageClass: classOf(), node, hasVolume: false, ...snapshot });
    const { kind, ...rest } = decision;
    equal([kind, ...Object.values(rest)].join(" "), expected);
  });
}

test("a volume is a directory of the chosen node, for that claim", () => {
  const volume = newVolume(
    { claim: claimOf(chosen), storageClass: classOf({ reclaimPolicy: "Retain", mountOptions: ["noexec"] }), node, hasVolume: false },
    "pvc-u",
    "/d/pvc-u",
  );
  deepEqual(volume, {
    metadata: { name: "pvc-u", annotations: { [annotations.provisionedBy]: provisionerName }, finalizers: [finalizer] },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "local-path",
      mountOptions: ["noexec"],
      local: { path: "/d/pvc-u" },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["host1"] }] }] } },
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "ns", name: "c", uid: "u" },
    },
  });
});

const ours = (spec: PersistentVolume["spec"], more: { phase?: string; deleting?: readonly string[]; by?: string } = {}): PersistentVolume => ({
  metadata: {
    name: "v",
    annotations: { [annotations.provisionedBy]: more.by ?? provisionerName },
    ...(more.deleting !== undefined && { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [...more.deleting] }),
  },
  spec: { local: { path: "/d/v" }, ...spec },
  status: { phase: more.phase ?? "Bound" },
});
const volumes: [title: string, volume: PersistentVolume, expected: string][] = [
  ["in use", ours({ persistentVolumeReclaimPolicy: "Delete" }), "none"],
  ["released", ours({ persistentVolumeReclaimPolicy: "Delete" }, { phase: "Released" }), "delete /d/v"],
  ["released and kept", ours({ persistentVolumeReclaimPolicy: "Retain" }, { phase: "Released" }), "none"],
  ["another's", ours({ persistentVolumeReclaimPolicy: "Delete" }, { phase: "Released", by: "x" }), "none"],
  ["being deleted, still in use", ours({ persistentVolumeReclaimPolicy: "Delete" }, { deleting: ["kubernetes.io/pv-protection", finalizer] }), "none"],
  ["being deleted", ours({ persistentVolumeReclaimPolicy: "Delete" }, { deleting: [finalizer] }), "finish /d/v"],
  ["being deleted, data kept", ours({ persistentVolumeReclaimPolicy: "Retain" }, { deleting: [finalizer] }), "finish "],
];
for (const [title, volume, expected] of volumes) {
  test(`volume: ${title}`, () => {
    const { kind, ...rest } = planVolume(volume);
    equal([kind, ...Object.values(rest)].join(" "), expected);
  });
}
