/** Volumes that are made from API objects: configMap, secret, downwardAPI, projected. */
import { chmod, mkdir } from "node:fs/promises";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Volume } from "../../../api/core-v1/types.ts";
import type { Clock } from "../../../base/clock.ts";
import { writeAtomically } from "../atomic-writer.ts";
import { volumePayload } from "../payload.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

export type PayloadKind = "configMap" | "secret" | "downwardAPI" | "projected";

/** Undefined: the volume is of another kind. */
export function payloadKind(volume: DeepReadonly<Volume>): PayloadKind | undefined {
  return (["configMap", "secret", "downwardAPI", "projected"] as const).find((kind) => volume[kind] !== undefined);
}

const folders = { configMap: "configmap", secret: "secret", downwardAPI: "downward-api", projected: "projected" } as const;

export function payloadPlugin(kind: PayloadKind, clock: Clock): VolumePlugin {
  return {
    folder: `kubernetes.io~${folders[kind]}`,
    async setUp({ pod, resolved, directory, sources }) {
      const payload = await volumePayload(pod, resolved.volume, sources);
      const group = pod.spec?.securityContext?.fsGroup;
      await mkdir(directory, { recursive: true, mode: 0o755 });
      await chmod(directory, 0o777);
      await writeAtomically(directory, payload.files, { nowMs: clock.nowMs(), ...(group !== undefined && { group }) });
      // What comes from the API cannot be written.
      return { path: directory, isReadOnly: true, isBlock: false, ...(payload.refreshAtMs !== undefined && { refreshAtMs: payload.refreshAtMs }) };
    },
  };
}
