/** What a CSI driver is asked for, from volume, pod and CSIDriver (KEPs 603, 596, 2047, 2317; API reference "CSIDriverSpec"). Pure. */
import { createHash } from "node:crypto";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { CSIDriver } from "../../../api/storage-v1/types.ts";
import type { ResolvedVolume } from "../volume.ts";
import type { AccessMode, VolumeCapability } from "./csi-driver.ts";

/** The one volume of an in-line source. */
export function inlineHandle(podUid: string, volumeName: string): string {
  return `csi-${createHash("sha256").update(`${volumeName}${podUid}`).digest("hex")}`;
}

export interface CapabilityOptions {
  /** The driver tells two writers on one node from one. */
  readonly hasSingleNodeModes: boolean;
  /** For a driver that gives files to a group itself. */
  readonly mountGroup: number | undefined;
}

export function volumeCapability({ volume, persistent, isBlock }: ResolvedVolume, { hasSingleNodeModes, mountGroup }: CapabilityOptions): VolumeCapability {
  const spec = persistent?.spec;
  const mode = spec === undefined ? "SINGLE_NODE_WRITER" : accessMode(spec.accessModes ?? [], hasSingleNodeModes);
  if (isBlock) return { block: {}, access_mode: { mode } };
  const fsType = spec === undefined ? (volume.csi?.fsType ?? "ext4") : (spec.csi?.fsType ?? "");
  return {
    mount: { fs_type: fsType, mount_flags: [...(spec?.mountOptions ?? [])], ...(mountGroup !== undefined && { volume_mount_group: String(mountGroup) }) },
    access_mode: { mode },
  };
}

function accessMode(modes: readonly string[], hasSingleNodeModes: boolean): AccessMode {
  if (modes.includes("ReadWriteMany")) return "MULTI_NODE_MULTI_WRITER";
  if (modes.includes("ReadOnlyMany") && modes.includes("ReadWriteOnce")) return "MULTI_NODE_SINGLE_WRITER";
  if (modes.includes("ReadOnlyMany")) return "MULTI_NODE_READER_ONLY";
  if (!hasSingleNodeModes) return "SINGLE_NODE_WRITER";
  return modes.includes("ReadWriteOncePod") ? "SINGLE_NODE_SINGLE_WRITER" : "SINGLE_NODE_MULTI_WRITER";
}

/** What the driver hears of the pod, when its CSIDriver asks for it. */
export function podContext(pod: DeepReadonly<Pod>, driver: DeepReadonly<CSIDriver> | undefined, isEphemeral: boolean): Record<string, string> {
  if (driver?.spec.podInfoOnMount !== true) return {};
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  return {
    "csi.storage.k8s.io/pod.name": name,
    "csi.storage.k8s.io/pod.namespace": namespace,
    "csi.storage.k8s.io/pod.uid": uid,
    "csi.storage.k8s.io/serviceAccount.name": pod.spec?.serviceAccountName ?? "",
    "csi.storage.k8s.io/ephemeral": String(isEphemeral),
  };
}

/** Undefined: the driver serves volumes of this kind; else why not. */
export function lifecycleFault(driverName: string, driver: DeepReadonly<CSIDriver> | undefined, isEphemeral: boolean): string | undefined {
  const mode = isEphemeral ? "Ephemeral" : "Persistent";
  // Who has no CSIDriver has persistent volumes only.
  if (driver === undefined) return isEphemeral ? `volume mode "Ephemeral" not supported by driver ${driverName} (no CSIDriver object)` : undefined;
  const modes = driver.spec.volumeLifecycleModes ?? ["Persistent"];
  return modes.includes(mode)
    ? undefined
    : `volume mode ${JSON.stringify(mode)} not supported by driver ${driverName} (only supports [${modes.map((one) => JSON.stringify(one)).join(" ")}])`;
}

/** Whether the kubelet gives the volume to the pod's group itself (KEP 1682). */
export function isGivenToGroup({ persistent, isReadOnly }: ResolvedVolume, driver: DeepReadonly<CSIDriver> | undefined): boolean {
  if (isReadOnly) return false;
  const policy = driver?.spec.fsGroupPolicy ?? "ReadWriteOnceWithFSType";
  if (policy === "File") return true;
  if (policy === "None" || persistent === undefined) return false;
  return (persistent.spec?.csi?.fsType ?? "") !== "" && (persistent.spec?.accessModes ?? []).includes("ReadWriteOnce");
}
