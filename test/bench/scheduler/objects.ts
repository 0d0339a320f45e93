/** The objects that workloads are made of. */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../../../src/api/core-v1/types.ts";
import type { CSINode } from "../../../src/api/storage-v1/types.ts";
import type { Batch, Workload } from "./workloads.ts";

/** The driver of `hasVolume` pods' volumes, and how many of them a node takes. */
const driver = "ebs.csi.aws.com";
const volumesPerNode = 39;

export function nodeOf(index: number, { cpu = "4" }: Workload["node"] = {}, name = `node-${index}`): Node {
  const labels = { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": `zone-${index % 3}` };
  const room = { cpu, memory: "32Gi", pods: cpu === "4" ? "110" : "100000" };
  return { metadata: { name, labels }, status: { capacity: room, allocatable: room, conditions: [{ type: "Ready", status: "True" }] } };
}

/** What nodes of the workload that come first are tainted with. */
export function taintsOf(index: number, { nodes, node }: Workload): { key: string; effect: string }[] | undefined {
  return index < nodes * (node?.taintedShare ?? 0) ? [{ key: "bench", effect: "NoSchedule" }] : undefined;
}

export function csiNodeOf(name: string): CSINode {
  return { metadata: { name }, spec: { drivers: [{ name: driver, nodeID: name, allocatable: { count: volumesPerNode } }] } };
}

export function podOf(
  name: string,
  { index, nodes }: { index: number; nodes: number },
  { labels = {}, spec = {}, requests = { cpu: "100m", memory: "500Mi" }, isOnePerNode, hasVolume }: Batch,
): Pod {
  const containers = [{ name: "pause", image: "registry.k8s.io/pause:3.10", ports: [{ containerPort: 80 }], resources: { requests, limits: requests } }];
  const matchFields = [{ key: "metadata.name", operator: "In", values: [`node-${index % nodes}`] }];
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } };
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: name } }];
  return {
    metadata: { name, labels },
    spec: { automountServiceAccountToken: false, containers, ...spec, ...(isOnePerNode === true && { affinity }), ...(hasVolume === true && { volumes }) },
  };
}

/** A pod's claim and its volume, bound to each other. */
export function volumeOf(name: string, namespace: string): { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim } {
  const shared = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  return {
    volume: {
      metadata: { name },
      spec: { ...shared, capacity: { storage: "1Gi" }, csi: { driver, volumeHandle: name }, claimRef: { namespace, name } },
    },
    claim: {
      metadata: { name, namespace, annotations: { "pv.kubernetes.io/bind-completed": "true" } },
      spec: { ...shared, resources: { requests: { storage: "1Gi" } }, volumeName: name },
    },
  };
}
