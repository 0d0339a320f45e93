import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, listerOf, nodeOf, podOf, scoresOf, verdicts } from "../../test-support/cluster.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../api/core-v1/types.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";

const zone = "topology.kubernetes.io/zone";
const nodes = [nodeOf("a", { labels: { [zone]: "1" } }), nodeOf("b", { labels: { [zone]: "2" } })];
const withClaim = (name = "p", claimName = "data", more: Partial<Volume> = {}): Pod =>
  podOf(name, { volumes: [{ name: "v", persistentVolumeClaim: { claimName }, ...more }] });

const claim = (spec: PersistentVolumeClaim["spec"], metadata: Partial<PersistentVolumeClaim["metadata"]> = {}, phase = "Pending"): PersistentVolumeClaim => ({
  metadata: { name: "data", namespace: "default", uid: "c", ...metadata },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } }, ...spec },
  status: { phase },
});
const bound = claim({ volumeName: "pv" }, { annotations: { "pv.kubernetes.io/bind-completed": "yes" } }, "Bound");
const volume = (spec: PersistentVolume["spec"] = {}, metadata: Partial<PersistentVolume["metadata"]> = {}): PersistentVolume => ({
  metadata: { name: "pv", ...metadata },
  spec: { capacity: { storage: "10Gi" }, accessModes: ["ReadWriteOnce"], ...spec },
  status: { phase: "Available" },
});
const onlyOn = (name: string) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [name] }] }] } },
});
const waiting = (provisioner: string, more: object = {}) =>
  listerOf({ metadata: { name: "late" }, provisioner, volumeBindingMode: "WaitForFirstConsumer", ...more });
const local = waiting("kubernetes.io/no-provisioner");
const late = claim({ storageClassName: "late" });
const nothingToBind = "unresolvable: node(s) didn't find available persistent volumes to bind";

const cases: { plugin: string; name: string; objects: Partial<ClusterObjects>; pod?: Pod; expect: Record<string, string> }[] = [
  { plugin: "VolumeBinding", name: "no such claim", objects: {}, expect: { "*": 'unresolvable: persistentvolumeclaim "data" not found' } },
  {
    plugin: "VolumeBinding",
    name: "a claim that is going",
    objects: { persistentVolumeClaims: listerOf(claim({}, { deletionTimestamp: "2026-01-01T00:00:00Z" })) },
    expect: { "*": 'unresolvable: persistentvolumeclaim "data" is being deleted' },
  },
  {
    plugin: "VolumeBinding",
    name: "a claim that others have to bind",
    objects: { persistentVolumeClaims: listerOf(claim({})) },
    expect: { "*": "unresolvable: pod has unbound immediate PersistentVolumeClaims" },
  },
  {
    plugin: "VolumeBinding",
    name: "a bound volume that one node reaches",
    objects: { persistentVolumeClaims: listerOf(bound), persistentVolumes: listerOf(volume(onlyOn("a"))) },
    expect: { a: "fits", b: "unresolvable: node(s) didn't match PersistentVolume's node affinity" },
  },
  {
    plugin: "VolumeBinding",
    name: "a free volume on one node",
    objects: {
      persistentVolumeClaims: listerOf(late),
      persistentVolumes: listerOf(volume({ storageClassName: "late", ...onlyOn("b") })),
      storageClasses: local,
    },
    expect: { a: nothingToBind, b: "fits" },
  },
  {
    plugin: "VolumeBinding",
    name: "a volume that is too small",
    objects: {
      persistentVolumeClaims: listerOf(late),
      persistentVolumes: listerOf(volume({ storageClassName: "late", capacity: { storage: "9Gi" } })),
      storageClasses: local,
    },
    expect: { a: nothingToBind, b: nothingToBind },
  },
  {
    plugin: "VolumeBinding",
    name: "provisioned, where the class allows it",
    objects: {
      persistentVolumeClaims: listerOf(late),
      storageClasses: waiting("csi", { allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ["2"] }] }] }),
    },
    expect: { a: nothingToBind, b: "fits" },
  },
  {
    plugin: "VolumeBinding",
    name: "provisioned, where there is room",
    objects: {
      persistentVolumeClaims: listerOf(late),
      storageClasses: waiting("csi"),
      csiDrivers: listerOf({ metadata: { name: "csi" }, spec: { storageCapacity: true } }),
      csiStorageCapacities: listerOf({
        metadata: { name: "x", namespace: "n" },
        storageClassName: "late",
        capacity: "20Gi",
        nodeTopology: { matchLabels: { [zone]: "1" } },
      }),
    },
    expect: { a: "fits", b: "unresolvable: node(s) did not have enough free storage" },
  },
  {
    plugin: "VolumeZone",
    name: "a volume of one zone",
    objects: { persistentVolumeClaims: listerOf(bound), persistentVolumes: listerOf(volume({}, { labels: { [zone]: "1" } })) },
    expect: { a: "fits", b: "unresolvable: node(s) had no available volume zone" },
  },
  {
    plugin: "VolumeZone",
    name: "a volume of several zones",
    objects: { persistentVolumeClaims: listerOf(bound), persistentVolumes: listerOf(volume({}, { labels: { [zone]: "1__2" } })) },
    expect: { a: "fits", b: "fits" },
  },
  {
    plugin: "NodeVolumeLimits",
    name: "as many volumes as the driver takes",
    objects: {
      persistentVolumeClaims: listerOf(bound),
      persistentVolumes: listerOf(volume({ csi: { driver: "csi", volumeHandle: "h" } })),
      csiNodes: listerOf({ metadata: { name: "a" }, spec: { drivers: [{ name: "csi", nodeID: "a", allocatable: { count: 1 } }] } }),
      volumeAttachments: listerOf({
        metadata: { name: "x" },
        spec: { attacher: "csi", nodeName: "a", source: { inlineVolumeSpec: { csi: { driver: "csi", volumeHandle: "other" } } } },
      }),
    },
    expect: { a: "unschedulable: node(s) exceed max volume count", b: "fits" },
  },
];
for (const { plugin, name, objects, pod = withClaim(), expect } of cases)
  test(`${plugin}: ${name}`, () => deepEqual(verdicts(plugin, clusterOf(nodes, objects), pod), expect));

test("VolumeRestrictions: a claim for one pod only", () => {
  const objects = { persistentVolumeClaims: listerOf(claim({ volumeName: "pv", accessModes: ["ReadWriteOncePod"] })) };
  const inUse = "unschedulable: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
  deepEqual(verdicts("VolumeRestrictions", clusterOf([[nodes[0]!, withClaim("x")], nodes[1]!], objects), withClaim()), { a: inUse, b: inUse });
  deepEqual(verdicts("VolumeRestrictions", clusterOf(nodes, objects), withClaim()), { a: "fits", b: "fits" });
});

const disk = (name: string, volumes: Partial<Volume>): Pod => podOf(name, { volumes: [{ name: "v", ...volumes }] });
const conflicts: { name: string; left: Partial<Volume>; right: Partial<Volume>; isRefused: boolean }[] = [
  { name: "the same disk", left: { gcePersistentDisk: { pdName: "d" } }, right: { gcePersistentDisk: { pdName: "d" } }, isRefused: true },
  {
    name: "both read only",
    left: { gcePersistentDisk: { pdName: "d", readOnly: true } },
    right: { gcePersistentDisk: { pdName: "d", readOnly: true } },
    isRefused: false,
  },
  {
    name: "read only does not help there",
    left: { awsElasticBlockStore: { volumeID: "v", readOnly: true } },
    right: { awsElasticBlockStore: { volumeID: "v", readOnly: true } },
    isRefused: true,
  },
  { name: "a shared monitor", left: { rbd: { monitors: ["a", "b"], image: "i" } }, right: { rbd: { monitors: ["b", "c"], image: "i" } }, isRefused: true },
  { name: "no shared monitor", left: { rbd: { monitors: ["a"], image: "i" } }, right: { rbd: { monitors: ["c"], image: "i" } }, isRefused: false },
];
for (const { name, left, right, isRefused } of conflicts)
  test(`VolumeRestrictions: ${name}`, () => {
    const expect = isRefused ? "unschedulable: node(s) had no available disk" : "fits";
    deepEqual(verdicts("VolumeRestrictions", clusterOf([[nodes[0]!, disk("x", left)]]), disk("p", right)), { a: expect });
  });

test("VolumeBinding: the volume that is used least is best", () => {
  const sized = (name: string, on: string, storage: string) => ({
    ...volume({ storageClassName: "late", capacity: { storage }, ...onlyOn(on) }),
    metadata: { name },
  });
  const objects = {
    persistentVolumeClaims: listerOf(late),
    persistentVolumes: listerOf(sized("small", "a", "10Gi"), sized("large", "b", "100Gi")),
    storageClasses: local,
  };
  deepEqual(filteredScores(objects), { a: 0, b: 90 });
});

function filteredScores(objects: Partial<ClusterObjects>): Record<string, number> | undefined {
  return scoresOf("VolumeBinding", clusterOf(nodes, objects), withClaim());
}
