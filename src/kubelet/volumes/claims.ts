/**
 * Follows a pod's volumes to what stands behind them: claims, and those made for ephemeral volumes, to their PersistentVolumes. A node may
 * read single claims and volumes but not watch them, so each try reads them anew. Texts are those of Kubernetes' events.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../api/core-v1/types.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { usedVolumeNames } from "./volume.ts";
import type { ResolvedVolume } from "./volume.ts";

export interface ClaimFault {
  /** In the pod. */
  readonly volume: string;
  readonly message: string;
}

export interface Resolution {
  readonly volumes: readonly ResolvedVolume[];
  readonly faults: readonly ClaimFault[];
}

/** Volumes that no container uses are left out. */
export async function resolveVolumes(pod: DeepReadonly<Pod>, client: Client, signal: AbortSignal): Promise<Resolution> {
  const { mounts, devices } = usedVolumeNames(pod);
  const volumes: ResolvedVolume[] = [];
  const faults: ClaimFault[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (!mounts.has(volume.name) && !devices.has(volume.name)) continue;
    try {
      const resolved = await resolve(pod, volume, client, signal);
      checkMode(resolved, { isMounted: mounts.has(volume.name), isDevice: devices.has(volume.name) });
      volumes.push(resolved);
    } catch (error) {
      if (!(error instanceof ResolutionError)) throw error;
      faults.push({ volume: volume.name, message: error.message });
    }
  }
  return { volumes, faults };
}

class ResolutionError extends Error {
  override name = "ResolutionError";
}

async function resolve(pod: DeepReadonly<Pod>, volume: DeepReadonly<Volume>, client: Client, signal: AbortSignal): Promise<ResolvedVolume> {
  const claimName = volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`);
  if (claimName === undefined) return { name: volume.name, specName: volume.name, volume, isReadOnly: isReadOnlySource(volume), isBlock: false };
  const namespace = pod.metadata.namespace ?? "";
  try {
    const claim = await readClaim(pod, volume, { namespace, name: claimName }, { client, signal });
    const persistent = await readVolume(claim, client, signal);
    return {
      name: volume.name,
      specName: persistent.metadata.name ?? "",
      volume,
      persistent,
      claim,
      isReadOnly: volume.persistentVolumeClaim?.readOnly === true || persistent.spec?.csi?.readOnly === true,
      isBlock: persistent.spec?.volumeMode === "Block",
    };
  } catch (error) {
    signal.throwIfAborted();
    throw new ResolutionError(`error processing PVC ${namespace}/${claimName}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** In-line sources that say themselves that they are not to be written. */
function isReadOnlySource({ nfs, csi, iscsi, fc, image }: DeepReadonly<Volume>): boolean {
  return image !== undefined || [nfs, csi, iscsi, fc].some((source) => source?.readOnly === true);
}

async function readClaim(
  pod: DeepReadonly<Pod>,
  volume: DeepReadonly<Volume>,
  { namespace, name }: { namespace: string; name: string },
  { client, signal }: { client: Client; signal: AbortSignal },
): Promise<PersistentVolumeClaim> {
  const claim = await client.get(resources.persistentVolumeClaims, namespace, name, { signal }).catch((error: unknown) => {
    throw new Error(`failed to fetch PVC from API server: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  const isOwned = claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.metadata.uid) === true;
  if (volume.ephemeral !== undefined && !isOwned)
    throw new Error(`PVC ${namespace}/${name} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`);
  // A pod that runs already goes on with it.
  if (claim.metadata.deletionTimestamp !== undefined && pod.status?.phase !== "Running") throw new Error("can't start pod because PVC is being deleted");
  if (claim.status?.phase !== "Bound" || (claim.spec?.volumeName ?? "") === "") throw new Error("PVC is not bound");
  return claim;
}

async function readVolume(claim: PersistentVolumeClaim, client: Client, signal: AbortSignal): Promise<PersistentVolume> {
  const name = claim.spec?.volumeName ?? "";
  const volume = await client.get(resources.persistentVolumes, "", name, { signal }).catch((error: unknown) => {
    throw new Error(`failed to fetch PV ${name} from API server: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  const uid = volume.spec?.claimRef?.uid;
  if (uid !== claim.metadata.uid)
    throw new Error(`found PV object ${name} with unexpected pvc.Spec.ClaimRef.UID: ${uid ?? ""}, expected ${claim.metadata.uid}`);
  return volume;
}

function checkMode({ name, isBlock }: ResolvedVolume, { isMounted, isDevice }: { isMounted: boolean; isDevice: boolean }): void {
  if (isBlock && isMounted) throw new ResolutionError(`volume ${name} has volumeMode Block, but is specified in volumeMounts`);
  if (!isBlock && isDevice) throw new ResolutionError(`volume ${name} has volumeMode Filesystem, but is specified in volumeDevices`);
}
