/** Lets a driver grow a published volume whose claim has grown (documentation page "Persistent Volumes", expanding claims). */
import { compareQuantities, quantityValue } from "../../../apimachinery/quantity.ts";
import { referenceTo, resources } from "../../../client/index.ts";
import { VolumeError } from "../volume.ts";
import type { SetUpRequest } from "../plugins/volume-plugin.ts";
import type { CsiDriver, VolumeCapability } from "./csi-driver.ts";
import { readSecret } from "./secrets.ts";

export interface ExpandVolume extends SetUpRequest {
  readonly driver: CsiDriver;
  readonly path: string;
  readonly stagingPath: string;
  readonly capability: VolumeCapability;
}

export async function expandVolume(volume: ExpandVolume, signal: AbortSignal): Promise<void> {
  const { resolved, sources, pod, driver, path, stagingPath, capability } = volume;
  const { claim, persistent } = resolved;
  const wanted = persistent?.spec?.capacity?.["storage"];
  const has = claim?.status?.capacity?.["storage"];
  if (claim === undefined || wanted === undefined || has === undefined || compareQuantities(wanted, has) <= 0) return;
  try {
    const secrets = await readSecret(persistent?.spec?.csi?.nodeExpandSecretRef, sources.client, signal);
    await driver.expand(
      {
        volume_id: persistent?.spec?.csi?.volumeHandle ?? "",
        volume_path: path,
        capacity_range: { required_bytes: quantityValue(wanted) },
        staging_target_path: stagingPath,
        volume_capability: capability,
        secrets,
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    throw new VolumeError(error.message, { operation: "NodeExpandVolume.NodeExpandVolume", eventReason: "VolumeResizeFailed", cause: error });
  }
  const conditions = (claim.status?.conditions ?? []).filter(({ type }) => type !== "Resizing" && type !== "FileSystemResizePending");
  const { storage: _done, ...pending } = claim.status?.allocatedResourceStatuses ?? {};
  const body = {
    status: {
      capacity: { ...claim.status?.capacity, storage: wanted },
      conditions,
      allocatedResourceStatuses: Object.keys(pending).length === 0 ? null : pending,
    },
  };
  await sources.client.patch(resources.persistentVolumeClaims, claim.metadata.namespace ?? "", claim.metadata.name ?? "", {
    type: "merge",
    subresource: "status",
    body,
    signal,
  });
  const message = `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(resolved.specName)} ${pod.spec?.nodeName ?? ""}`;
  for (const reference of [referenceTo(resources.pods, pod), referenceTo(resources.persistentVolumeClaims, claim)])
    sources.tell(reference, { type: "Normal", reason: "FileSystemResizeSuccessful", message });
}
