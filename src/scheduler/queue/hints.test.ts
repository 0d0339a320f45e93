/** For each plugin: which events it hears at all, and which of those bring back a pod that it refused. */
import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { podInfoOf } from "../state/pod-info.ts";
import { clusterOf, listerOf, nodeOf, podOf, profileOf } from "../test-support/cluster.ts";
import { Listeners, requeueAfter } from "./hints.ts";
import { newEntry } from "./queue-entry.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Pod, PodSpec } from "../../api/core-v1/types.ts";
import type { ClusterEvent, EventAction, EventResource } from "../framework/cluster-event.ts";

const term = (app: string) => [{ topologyKey: "zone", labelSelector: { matchLabels: { app } } }];
const affinity = (kind: "podAffinity" | "podAntiAffinity", app: string) => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: term(app) } },
});
const uses = (...names: string[]): Partial<PodSpec> => ({ volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })) });
const claim = (name: string, spec: object, metadata = {}): KubeObject => ({ metadata: { name, namespace: "default", uid: name, ...metadata }, spec });
const volume = (name: string, spec: object, labels = {}): KubeObject => ({ metadata: { name, labels }, spec });
const csi = (volumeHandle: string, driver = "driver") => ({ csi: { driver, volumeHandle } });
const csiNode = (count: number, driver = "driver"): KubeObject => ({
  metadata: { name: "n" },
  spec: { drivers: [{ name: driver, nodeID: "n", allocatable: { count } }] },
});
const driver = (spec: object): KubeObject => ({ metadata: { name: "driver" }, spec });
const room = (capacity: string, storageClassName = "slow"): KubeObject => ({ metadata: { name: "c", namespace: "default" }, storageClassName, capacity });
const zoned = (zone: string, name = "bound-volume") => volume(name, csi("1"), { "topology.kubernetes.io/zone": zone });
const held = (uid: string, allocation?: object): KubeObject => ({
  metadata: { name: uid, namespace: "default", uid },
  spec: {},
  status: { ...(allocation !== undefined && { allocation }) },
});
const tolerating = (key: string): Partial<PodSpec> => ({ tolerations: [{ key, operator: "Exists" }] });
const labelled = (app: string, spec: Parameters<typeof podOf>[1] = {}) => podOf("other", spec, { labels: { app } });
const spread = {
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { app: "a" } } }],
};
const restartsAll: Partial<PodSpec> = {
  containers: [{ name: "c", restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [1] } }] }],
};
const declaring = nodeOf("n", { declaredFeatures: ["RestartAllContainersOnContainerExits"] });

const state = clusterOf([], {
  persistentVolumeClaims: listerOf(
    claim("bound", { volumeName: "bound-volume", storageClassName: "" }, { annotations: { "pv.kubernetes.io/bind-completed": "yes" } }),
    claim("open", { storageClassName: "slow", resources: { requests: { storage: "1Gi" } } }),
  ) as never,
  persistentVolumes: listerOf(volume("bound-volume", csi("1"))) as never,
  storageClasses: listerOf({ metadata: { name: "slow" }, provisioner: "driver", volumeBindingMode: "WaitForFirstConsumer" }) as never,
  resourceClaims: listerOf(held("devices")) as never,
});
const profile = profileOf(state);

/** One event, of what it was and what it is, and whether it helps. */
type Row = readonly [action: `${EventResource} ${EventAction}`, old: KubeObject | undefined, current: KubeObject | undefined, helps: boolean];
interface Case {
  readonly pod: Pod;
  /** All that the plugin hears; `Update` stands for every kind of update. */
  readonly hears: readonly `${EventResource} ${EventAction}`[];
  readonly rows: readonly Row[];
}

const plugins: Readonly<Record<string, Case>> = {
  SchedulingGates: {
    pod: podOf("p"),
    hears: ["TargetPod UpdatePodSchedulingGatesEliminated"],
    rows: [["TargetPod UpdatePodSchedulingGatesEliminated", podOf("p", { schedulingGates: [{ name: "g" }] }), podOf("p"), true]],
  },
  NodeName: {
    pod: podOf("p", { nodeName: "n" }),
    hears: ["Node Add"],
    rows: [
      ["Node Add", undefined, nodeOf("n"), true],
      ["Node Add", undefined, nodeOf("m"), false],
    ],
  },
  NodeUnschedulable: {
    pod: podOf("p"),
    hears: ["Node Add", "Node UpdateNodeTaint", "TargetPod UpdatePodToleration"],
    rows: [
      ["Node Add", undefined, nodeOf("n"), true],
      ["Node Add", undefined, nodeOf("n", { unschedulable: true }), false],
      ["Node UpdateNodeTaint", nodeOf("n", { unschedulable: true }), nodeOf("n"), true],
      ["Node UpdateNodeTaint", nodeOf("n"), nodeOf("n", { unschedulable: true }), false],
      ["Node UpdateNodeTaint", nodeOf("n", { taints: [{ key: "a", effect: "NoSchedule" }] }), nodeOf("n"), false],
      ["TargetPod UpdatePodToleration", podOf("p"), podOf("p", tolerating("a")), false],
      ["TargetPod UpdatePodToleration", podOf("p"), podOf("p", tolerating("node.kubernetes.io/unschedulable")), true],
    ],
  },
  TaintToleration: {
    pod: podOf("p", tolerating("a")),
    hears: ["Node Add", "Node UpdateNodeTaint", "TargetPod UpdatePodToleration"],
    rows: [
      ["Node Add", undefined, nodeOf("n", { taints: [{ key: "a", effect: "NoSchedule" }] }), true],
      ["Node Add", undefined, nodeOf("n", { taints: [{ key: "b", effect: "NoSchedule" }] }), false],
      ["Node UpdateNodeTaint", nodeOf("n", { taints: [{ key: "b", effect: "NoExecute" }] }), nodeOf("n"), true],
      ["Node UpdateNodeTaint", nodeOf("n", { taints: [{ key: "b", effect: "PreferNoSchedule" }] }), nodeOf("n"), false],
      ["TargetPod UpdatePodToleration", podOf("p"), podOf("p", tolerating("a")), true],
    ],
  },
  NodeAffinity: {
    pod: podOf("p", { nodeSelector: { zone: "a" } }),
    hears: ["Node Add", "Node UpdateNodeLabel"],
    rows: [
      ["Node Add", undefined, nodeOf("n", { labels: { zone: "a" } }), true],
      ["Node Add", undefined, nodeOf("n", { labels: { zone: "b" } }), false],
      ["Node UpdateNodeLabel", nodeOf("n", { labels: { zone: "b" } }), nodeOf("n", { labels: { zone: "a" } }), true],
      ["Node UpdateNodeLabel", nodeOf("n", { labels: { zone: "a" } }), nodeOf("n", { labels: { zone: "a", x: "y" } }), false],
    ],
  },
  NodePorts: {
    pod: podOf("p", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] }),
    hears: ["Node Add", "AssignedPod Delete"],
    rows: [
      ["Node Add", undefined, nodeOf("n"), true],
      ["AssignedPod Delete", podOf("q", { containers: [{ name: "c", ports: [{ containerPort: 1, hostPort: 80 }] }] }), undefined, true],
      ["AssignedPod Delete", podOf("q", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 81 }] }] }), undefined, false],
    ],
  },
  NodeResourcesFit: {
    pod: podOf("p", { requests: { cpu: "2" } }),
    hears: [
      "AssignedPod Delete",
      "AssignedPod UpdatePodScaleDown",
      "TargetPod UpdatePodScaleDown",
      "DeviceClass Add",
      "DeviceClass Update",
      "Node Add",
      "Node UpdateNodeAllocatable",
    ],
    rows: [
      ["AssignedPod Delete", podOf("q"), undefined, true],
      ["AssignedPod UpdatePodScaleDown", podOf("q", { requests: { cpu: "2" } }), podOf("q", { requests: { cpu: "1" } }), true],
      ["AssignedPod UpdatePodScaleDown", podOf("q", { requests: { memory: "2" } }), podOf("q", { requests: { memory: "1" } }), false],
      ["TargetPod UpdatePodScaleDown", podOf("p", { requests: { cpu: "3" } }), podOf("p", { requests: { cpu: "2" } }), true],
      ["DeviceClass Add", undefined, { metadata: { name: "gpu" } }, false],
      ["Node Add", undefined, nodeOf("n", { allocatable: { cpu: "1", pods: "9" } }), false],
      ["Node Add", undefined, nodeOf("n"), true],
      ["Node UpdateNodeAllocatable", nodeOf("n", { allocatable: { cpu: "1", pods: "9" } }), nodeOf("n"), true],
      ["Node UpdateNodeAllocatable", nodeOf("n", { allocatable: { cpu: "4", memory: "1", pods: "110" } }), nodeOf("n"), false],
    ],
  },
  VolumeRestrictions: {
    pod: podOf("p", uses("bound")),
    hears: ["AssignedPod Delete", "Node Add", "PersistentVolumeClaim Add", "PersistentVolumeClaim Update"],
    rows: [
      ["AssignedPod Delete", podOf("q", uses("bound")), undefined, true],
      ["AssignedPod Delete", podOf("q", uses("open")), undefined, false],
      ["AssignedPod Delete", podOf("q", uses("bound"), { namespace: "other" }), undefined, false],
      ["Node Add", undefined, nodeOf("n"), true],
      ["PersistentVolumeClaim Add", undefined, claim("bound", {}), true],
      ["PersistentVolumeClaim Update", claim("open", {}), claim("open", {}), false],
    ],
  },
  NodeVolumeLimits: {
    pod: podOf("p", uses("bound")),
    hears: [
      "CSINode Add",
      "CSINode Update",
      "CSIDriver Update",
      "CSIDriver Delete",
      "AssignedPod Delete",
      "PersistentVolumeClaim Add",
      "PersistentVolumeClaim Update",
      "VolumeAttachment Delete",
    ],
    rows: [
      ["CSINode Add", undefined, csiNode(3), true],
      ["CSINode Add", undefined, csiNode(3, "other"), false],
      ["CSINode Update", csiNode(3), csiNode(4), true],
      ["CSINode Update", csiNode(4), csiNode(3), false],
      ["CSINode Update", csiNode(3, "other"), csiNode(3), true],
      ["CSIDriver Update", driver({ preventPodSchedulingIfMissing: true }), driver({}), true],
      ["CSIDriver Update", driver({}), driver({ preventPodSchedulingIfMissing: true }), false],
      ["AssignedPod Delete", podOf("q", uses("bound")), undefined, true],
      ["AssignedPod Delete", podOf("q", uses("gone")), undefined, true],
      ["AssignedPod Delete", podOf("q"), undefined, false],
      ["PersistentVolumeClaim Add", undefined, claim("bound", {}), true],
      ["PersistentVolumeClaim Add", undefined, claim("open", {}), false],
      ["VolumeAttachment Delete", { metadata: { name: "a" }, spec: { attacher: "driver" } }, undefined, true],
      ["VolumeAttachment Delete", { metadata: { name: "a" }, spec: { attacher: "other" } }, undefined, false],
    ],
  },
  VolumeBinding: {
    pod: podOf("p", uses("open")),
    hears: [
      "StorageClass Add",
      "StorageClass Update",
      "PersistentVolumeClaim Add",
      "PersistentVolumeClaim Update",
      "PersistentVolume Add",
      "PersistentVolume Update",
      "Node Add",
      "Node UpdateNodeLabel",
      "CSIDriver Update",
      "CSIDriver Delete",
      "CSIStorageCapacity Add",
      "CSIStorageCapacity Update",
    ],
    rows: [
      ["StorageClass Add", undefined, { metadata: { name: "slow" } }, true],
      ["StorageClass Add", undefined, { metadata: { name: "fast" } }, false],
      ["StorageClass Update", { metadata: { name: "slow" } }, { metadata: { name: "slow", labels: { a: "b" } } }, false],
      ["StorageClass Update", { metadata: { name: "slow" }, allowedTopologies: [{}] }, { metadata: { name: "slow" } }, true],
      ["PersistentVolumeClaim Update", claim("open", {}), claim("open", { volumeName: "v" }), true],
      ["PersistentVolumeClaim Update", claim("bound", {}), claim("bound", { volumeName: "v" }), false],
      ["PersistentVolume Add", undefined, volume("v", { storageClassName: "slow" }), true],
      ["PersistentVolume Add", undefined, volume("v", { storageClassName: "slow", claimRef: { namespace: "default", name: "other" } }), false],
      ["PersistentVolume Update", volume("v", {}), volume("v", { claimRef: { namespace: "default", name: "open" } }), true],
      ["PersistentVolume Add", undefined, volume("v", { storageClassName: "fast" }), false],
      ["Node Add", undefined, nodeOf("n"), true],
      ["Node UpdateNodeLabel", nodeOf("n"), nodeOf("n", { labels: { a: "b" } }), true],
      ["CSIDriver Update", driver({ storageCapacity: true }), driver({}), true],
      ["CSIDriver Update", driver({}), driver({ storageCapacity: true }), false],
      ["CSIDriver Delete", driver({ storageCapacity: true }), undefined, true],
      ["CSIStorageCapacity Add", undefined, room("1Gi"), true],
      ["CSIStorageCapacity Add", undefined, room("1Gi", "fast"), false],
      ["CSIStorageCapacity Update", room("1Gi"), room("2Gi"), true],
      ["CSIStorageCapacity Update", room("2Gi"), room("1Gi"), false],
    ],
  },
  VolumeZone: {
    pod: podOf("p", uses("bound")),
    hears: [
      "StorageClass Add",
      "PersistentVolumeClaim Add",
      "PersistentVolumeClaim Update",
      "PersistentVolume Add",
      "PersistentVolume Update",
      "Node Add",
      "Node UpdateNodeLabel",
    ],
    rows: [
      ["StorageClass Add", undefined, { metadata: { name: "slow" } }, false],
      ["PersistentVolumeClaim Update", claim("bound", {}), claim("bound", {}), true],
      ["PersistentVolume Add", undefined, zoned("a"), true],
      ["PersistentVolume Add", undefined, zoned("a", "other"), false],
      ["PersistentVolume Update", zoned("a"), zoned("b"), true],
      ["PersistentVolume Update", zoned("a"), zoned("a"), false],
      ["Node Add", undefined, nodeOf("n"), true],
      ["Node UpdateNodeLabel", nodeOf("n"), nodeOf("n", { labels: { "topology.kubernetes.io/zone": "a" } }), true],
      ["Node UpdateNodeLabel", nodeOf("n"), nodeOf("n", { labels: { a: "b" } }), false],
    ],
  },
  PodTopologySpread: {
    pod: podOf("p", spread, { labels: { app: "a" } }),
    hears: [
      "AssignedPod Add",
      "AssignedPod Delete",
      "AssignedPod UpdatePodLabel",
      "TargetPod UpdatePodLabel",
      "Node Add",
      "Node Delete",
      "Node UpdateNodeLabel",
      "Node UpdateNodeTaint",
    ],
    rows: [
      ["AssignedPod Add", undefined, labelled("a"), true],
      ["AssignedPod Add", undefined, labelled("b"), false],
      ["AssignedPod Delete", labelled("a"), undefined, true],
      ["AssignedPod Delete", podOf("q", {}, { labels: { app: "a" }, namespace: "other" }), undefined, false],
      ["AssignedPod UpdatePodLabel", labelled("b"), labelled("a"), true],
      ["AssignedPod UpdatePodLabel", labelled("b"), labelled("c"), false],
      ["TargetPod UpdatePodLabel", labelled("a"), labelled("b"), true],
      ["Node Add", undefined, nodeOf("n", { labels: { zone: "a" } }), true],
      ["Node Add", undefined, nodeOf("n"), false],
      ["Node Delete", nodeOf("n", { labels: { zone: "a" } }), undefined, true],
      ["Node UpdateNodeLabel", nodeOf("n", { labels: { zone: "a" } }), nodeOf("n", { labels: { zone: "b" } }), true],
      ["Node UpdateNodeLabel", nodeOf("n", { labels: { zone: "a" } }), nodeOf("n", { labels: { zone: "a", x: "y" } }), false],
      ["Node UpdateNodeTaint", nodeOf("n"), nodeOf("n"), false],
    ],
  },
  InterPodAffinity: {
    pod: podOf("p", affinity("podAffinity", "a"), { labels: { app: "b" } }),
    hears: [
      "AssignedPod Add",
      "AssignedPod Delete",
      "AssignedPod UpdatePodLabel",
      "TargetPod UpdatePodLabel",
      "Node Add",
      "Node UpdateNodeLabel",
      "Node Delete",
    ],
    rows: [
      ["AssignedPod Add", undefined, labelled("a"), true],
      ["AssignedPod Add", undefined, labelled("b"), false],
      ["AssignedPod Delete", labelled("a"), undefined, false],
      ["AssignedPod Delete", labelled("c", affinity("podAntiAffinity", "b")), undefined, true],
      ["AssignedPod UpdatePodLabel", labelled("b"), labelled("a"), true],
      ["AssignedPod UpdatePodLabel", labelled("a"), labelled("b"), false],
      ["TargetPod UpdatePodLabel", labelled("a"), labelled("b"), true],
      ["Node Add", undefined, nodeOf("n", { labels: { zone: "a" } }), true],
      ["Node Delete", nodeOf("n"), undefined, true],
      ["Node UpdateNodeLabel", nodeOf("n"), nodeOf("n", { labels: { zone: "a" } }), true],
      ["Node UpdateNodeLabel", nodeOf("n", { labels: { zone: "a" } }), nodeOf("n", { labels: { zone: "a", x: "y" } }), false],
    ],
  },
  DynamicResources: {
    pod: podOf("p", { resourceClaims: [{ name: "d", resourceClaimName: "devices" }] }),
    hears: [
      "ResourceClaim Add",
      "ResourceClaim Update",
      "ResourceClaim Delete",
      "TargetPod UpdatePodGeneratedResourceClaim",
      "Node Add",
      "Node UpdateNodeLabel",
      "Node UpdateNodeTaint",
      "DeviceClass Add",
      "DeviceClass Update",
      "ResourceSlice Add",
      "ResourceSlice Update",
    ],
    rows: [
      ["ResourceClaim Update", held("devices"), held("devices"), true],
      ["ResourceClaim Update", held("other"), held("other"), false],
      ["ResourceClaim Update", held("other", {}), held("other"), true],
      ["ResourceClaim Delete", held("other", {}), undefined, true],
      ["ResourceClaim Add", undefined, held("other", {}), false],
      ["TargetPod UpdatePodGeneratedResourceClaim", podOf("p"), podOf("p"), true],
      ["Node Add", undefined, nodeOf("n"), true],
      ["DeviceClass Add", undefined, { metadata: { name: "gpu" } }, true],
      ["ResourceSlice Add", undefined, { metadata: { name: "s" } }, true],
    ],
  },
  NodeDeclaredFeatures: {
    pod: podOf("p", restartsAll),
    hears: ["Node Add", "Node UpdateNodeDeclaredFeature", "TargetPod Update"],
    rows: [
      ["Node Add", undefined, declaring, true],
      ["Node Add", undefined, nodeOf("n"), false],
      ["Node UpdateNodeDeclaredFeature", nodeOf("n"), declaring, true],
      ["Node UpdateNodeDeclaredFeature", declaring, nodeOf("n"), false],
      ["TargetPod Update", podOf("p", restartsAll), podOf("p"), true],
    ],
  },
};

const resources: readonly EventResource[] = [
  "AssignedPod",
  "TargetPod",
  "Node",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "CSINode",
  "CSIDriver",
  "CSIStorageCapacity",
  "VolumeAttachment",
  "StorageClass",
  "ResourceClaim",
  "ResourceSlice",
  "DeviceClass",
  "Namespace",
];
const actionsOf = (resource: EventResource): readonly EventAction[] => [
  "Add",
  "Delete",
  "Update",
  ...(resource === "Node"
    ? (["UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeCondition", "UpdateNodeAnnotation", "UpdateNodeDeclaredFeature"] as const)
    : []),
  ...(resource.endsWith("Pod")
    ? (["UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodToleration", "UpdatePodSchedulingGatesEliminated", "UpdatePodGeneratedResourceClaim"] as const)
    : []),
];

const listeners = new Listeners(profile);

test("queueing hints: every plugin that hears of anything is in the table", () =>
  deepEqual(profile.plugins.flatMap(({ name, events = [] }) => (events.length > 0 ? [name] : [])).sort(), Object.keys(plugins).sort()));

for (const [plugin, { pod, hears, rows }] of Object.entries(plugins)) {
  test(`queueing hints: ${plugin} hears of these events, and no others`, () => {
    const heard = resources.flatMap((resource) =>
      actionsOf(resource).flatMap((action) => (listeners.of({ resource, action }).includes(plugin) ? [`${resource} ${action}`] : [])),
    );
    const isCovered = (event: string) => hears.some((one) => one === event || (one.endsWith(" Update") && event.startsWith(one)));
    deepEqual(
      heard.filter((event) => !isCovered(event)),
      [],
    );
    deepEqual(
      hears.filter((event) => !heard.includes(event)),
      [],
    );
  });
  for (const [what, old, current, helps] of rows)
    test(`queueing hints: ${plugin}, ${what}: ${JSON.stringify(old)} → ${JSON.stringify(current)} ${helps ? "helps" : "does not help"}`, () => {
      const [resource, action] = what.split(" ") as [EventResource, EventAction];
      const isOwn = resource === "TargetPod";
      const entry = { ...newEntry(podInfoOf(isOwn ? (current as Pod) : pod), 0), rejectors: new Set([plugin]) };
      const event: ClusterEvent = { resource, action, old: old as never, current: current as never };
      equal(requeueAfter(entry, event, profile), helps ? "afterBackoff" : "skip");
    });
}

test("queueing hints: a pod that wants to be with its own group may start anywhere when the last of them has gone", () => {
  const entry = { ...newEntry(podInfoOf(labelled("a", affinity("podAffinity", "a"))), 0), rejectors: new Set(["InterPodAffinity"]) };
  equal(requeueAfter(entry, { resource: "AssignedPod", action: "Delete", old: labelled("a") as never }, profile), "afterBackoff");
});
