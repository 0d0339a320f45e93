/** What the parts of the kubelet that look after volumes tell each other. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../api/core-v1/types.ts";

/** A volume of a pod with what stands behind it: claims have been followed to their PersistentVolumes. */
export interface ResolvedVolume {
  /** In the pod. */
  readonly name: string;
  /** What events call it: the PersistentVolume's name, or the pod's. */
  readonly specName: string;
  readonly volume: DeepReadonly<Volume>;
  readonly persistent?: DeepReadonly<PersistentVolume>;
  readonly claim?: DeepReadonly<PersistentVolumeClaim>;
  readonly isReadOnly: boolean;
  /** Containers get the device itself. */
  readonly isBlock: boolean;
}

/** A volume that containers can be given. */
export interface ReadyVolume {
  /** On this machine: a directory, a file, or a device. */
  readonly path: string;
  /** Whatever the mounts say. */
  readonly isReadOnly: boolean;
  readonly isBlock: boolean;
  /** Whose files it holds, when its PersistentVolume says so: containers join it. */
  readonly groupId?: number;
  /** When it has to be set up again though no object changed. */
  readonly refreshAtMs?: number;
}

/** A volume cannot be set up; the message is Kubernetes'. */
export class VolumeError extends Error {
  override name = "VolumeError";
  /** What failed, as events begin. */
  readonly operation: string;
  readonly eventReason: "FailedMount" | "FailedMapVolume" | "VolumeResizeFailed";

  constructor(message: string, options: ErrorOptions & { operation?: string; eventReason?: VolumeError["eventReason"] } = {}) {
    super(message, options);
    this.operation = options.operation ?? "MountVolume.SetUp";
    this.eventReason = options.eventReason ?? "FailedMount";
  }
}

/** A volume that is not attached to the node yet; no event tells of it. */
export class NotAttachedError extends VolumeError {
  override name = "NotAttachedError";
}

/** The names of the pod's volumes that a container mounts or takes as a device: no others are set up. Pure. */
export function usedVolumeNames({ spec }: DeepReadonly<Pod>): { mounts: Set<string>; devices: Set<string> } {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  return {
    mounts: new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name))),
    devices: new Set(containers.flatMap(({ volumeDevices = [] }) => volumeDevices.map(({ name }) => name))),
  };
}
