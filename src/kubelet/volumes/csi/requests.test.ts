import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { PersistentVolume, Pod } from "../../../api/core-v1/types.ts";
import type { CSIDriver } from "../../../api/storage-v1/types.ts";
import type { ResolvedVolume } from "../volume.ts";
import { inlineHandle, isGivenToGroup, lifecycleFault, podContext, volumeCapability } from "./requests.ts";

const driverOf = (spec: CSIDriver["spec"]): CSIDriver => ({ metadata: { name: "d" }, spec });
const persistentOf = (spec: NonNullable<PersistentVolume["spec"]>, more: Partial<ResolvedVolume> = {}): ResolvedVolume => ({
  name: "v",
  specName: "pv",
  volume: { name: "v" },
  persistent: { metadata: { name: "pv" }, spec: { csi: { driver: "d", volumeHandle: "h" }, ...spec } },
  isReadOnly: false,
  isBlock: false,
  ...more,
});
const inline: ResolvedVolume = { name: "v", specName: "v", volume: { name: "v", csi: { driver: "d" } }, isReadOnly: false, isBlock: false };

const modes: [accessModes: string[], hasSingleNodeModes: boolean, mode: string][] = [
  [["ReadWriteOnce"], false, "SINGLE_NODE_WRITER"],
  [["ReadWriteOnce"], true, "SINGLE_NODE_MULTI_WRITER"],
  [["ReadWriteOncePod"], true, "SINGLE_NODE_SINGLE_WRITER"],
  [["ReadWriteOncePod"], false, "SINGLE_NODE_WRITER"],
  [["ReadOnlyMany"], false, "MULTI_NODE_READER_ONLY"],
  [["ReadWriteMany", "ReadWriteOnce"], false, "MULTI_NODE_MULTI_WRITER"],
];
for (const [accessModes, hasSingleNodeModes, mode] of modes) {
  test(`access mode of ${accessModes.join()}${hasSingleNodeModes ? ", told apart on one node" : ""}`, () =>
    equal(volumeCapability(persistentOf({ accessModes }), { hasSingleNodeModes, mountGroup: undefined }).access_mode.mode, mode));
}

test("capabilities: file system, options and group; a device; an in-line volume is ext4", () => {
  const options = { hasSingleNodeModes: false, mountGroup: 7 };
  const access_mode = { mode: "SINGLE_NODE_WRITER" };
  deepEqual(volumeCapability(persistentOf({ mountOptions: ["noexec"], csi: { driver: "d", volumeHandle: "h", fsType: "xfs" } }), options), {
    mount: { fs_type: "xfs", mount_flags: ["noexec"], volume_mount_group: "7" },
    access_mode,
  });
  deepEqual(volumeCapability(persistentOf({}, { isBlock: true }), options), { block: {}, access_mode });
  deepEqual(volumeCapability(inline, { ...options, mountGroup: undefined }), { mount: { fs_type: "ext4", mount_flags: [] }, access_mode });
});

const ofType = { csi: { driver: "d", volumeHandle: "h", fsType: "ext4" } };
const groups: [title: string, volume: ResolvedVolume, policy: string | undefined, isGiven: boolean][] = [
  ["by default one node's file system", persistentOf({ ...ofType, accessModes: ["ReadWriteOnce"] }), undefined, true],
  ["not without a file system type", persistentOf({ accessModes: ["ReadWriteOnce"] }), undefined, false],
  ["not for several nodes", persistentOf({ ...ofType, accessModes: ["ReadWriteMany"] }), undefined, false],
  ["always", persistentOf({ accessModes: ["ReadWriteMany"] }), "File", true],
  ["never", persistentOf({ ...ofType, accessModes: ["ReadWriteOnce"] }), "None", false],
  ["not what is read only", persistentOf(ofType, { isReadOnly: true }), "File", false],
  ["not in-line by default", inline, undefined, false],
];
for (const [title, volume, fsGroupPolicy, isGiven] of groups) {
  test(`given to the group: ${title}`, () => equal(isGivenToGroup(volume, fsGroupPolicy === undefined ? undefined : driverOf({ fsGroupPolicy })), isGiven));
}

test("lifecycle modes that a driver does not serve", () => {
  equal(lifecycleFault("d", undefined, true), 'volume mode "Ephemeral" not supported by driver d (no CSIDriver object)');
  equal(lifecycleFault("d", undefined, false), undefined);
  equal(lifecycleFault("d", driverOf({}), true), 'volume mode "Ephemeral" not supported by driver d (only supports ["Persistent"])');
  equal(lifecycleFault("d", driverOf({ volumeLifecycleModes: ["Ephemeral"] }), true), undefined);
});

test("the pod is told of only when asked for; an in-line volume's handle is the pod's own", () => {
  const pod: Pod = { metadata: { name: "p", namespace: "n", uid: "u" }, spec: { containers: [], serviceAccountName: "s" } };
  deepEqual(podContext(pod, driverOf({}), true), {});
  equal(podContext(pod, driverOf({ podInfoOnMount: true }), true)["csi.storage.k8s.io/ephemeral"], "true");
  equal(inlineHandle("u", "v"), "csi-b944fc0984e689314e11bef2ad5c6f58ec2fc24edc9468d2a37eb2fafc3e1af2");
});
