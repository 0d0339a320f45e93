import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { FilesystemLevel } from "../../stats/usage.ts";
import type { VolumeSources } from "../pod-storage.ts";
import type { ReadyVolume, ResolvedVolume } from "../volume.ts";

/** How volumes of one kind are made ready. Stateless: what it has to know later lies on disk. */
export interface VolumePlugin {
  /** Where its volumes lie in a pod's folder, such as `kubernetes.io~empty-dir`. */
  readonly folder: string;
  /** Makes the volume ready, or brings it up to date. Throws a `VolumeError`. */
  setUp(request: SetUpRequest, signal: AbortSignal): Promise<ReadyVolume>;
  /** What drivers tell of their volumes; by default the file system is asked. */
  filesystem?(directory: string): Promise<FilesystemLevel | undefined>;
  /** Undoes what is more than files and mounts in the pod's own folder. */
  tearDown?(place: { readonly podUid: string; readonly directory: string }): Promise<void>;
}

export interface SetUpRequest {
  readonly pod: DeepReadonly<Pod>;
  readonly resolved: ResolvedVolume;
  /** The volume's own, not made yet. */
  readonly directory: string;
  readonly sources: VolumeSources;
}
