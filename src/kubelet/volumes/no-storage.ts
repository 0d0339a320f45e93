/** Volumes of simulated pods: no files, but what is missing is missed. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { volumeFault } from "./faults.ts";
import { checkNodeAffinity } from "./node-affinity.ts";
import { isPayloadVolume, volumePayload } from "./payload.ts";
import type { PodStorage, VolumeFault, VolumeSetUp, VolumeSources } from "./pod-storage.ts";
import type { ReadyVolume, ResolvedVolume } from "./volume.ts";
import { VolumesInUse } from "./volumes-in-use.ts";

export class NoStorage implements PodStorage {
  readonly inUse = new VolumesInUse();

  async setUp(pod: DeepReadonly<Pod>, volumes: readonly ResolvedVolume[], sources: VolumeSources): Promise<VolumeSetUp> {
    // No request is made for what nobody reads.
    const certificate = async () => ({ key: "", chain: "", refreshAtMs: Number.POSITIVE_INFINITY });
    const tokenless: VolumeSources = {
      ...sources,
      certificate,
      token: async () => ({ token: "", expirationTimestamp: "", refreshAtMs: Number.POSITIVE_INFINITY }),
    };
    const faults: VolumeFault[] = [];
    for (const resolved of volumes) {
      try {
        checkNodeAffinity(resolved, sources.node());
        if (isPayloadVolume(resolved.volume)) await volumePayload(pod, resolved.volume, tokenless);
      } catch (error) {
        faults.push(volumeFault(resolved, error));
      }
    }
    return { faults };
  }

  ready(_podUid: string, volumeName: string): ReadyVolume {
    return { path: `/nowhere/${volumeName}`, isReadOnly: false, isBlock: false };
  }

  async subPath({ volumeName }: { volumeName: string }): Promise<string> {
    return `/nowhere/${volumeName}`;
  }

  async writeFile(): Promise<undefined> {}

  async readEnd(): Promise<string> {
    return "";
  }

  async tearDown(): Promise<void> {}

  async readVolumeFile(): Promise<undefined> {}

  async filesystem(): Promise<undefined> {}

  async mountImage(): Promise<void> {}

  plugins(): undefined {}

  async podUids(): Promise<string[]> {
    return [];
  }

  async removeLogs(): Promise<void> {}

  async logNames(): Promise<string[]> {
    return [];
  }
}
