import { resources } from "../../client/index.ts";
import { createAction, deleteAction, nothingToDo } from "../../operator/index.ts";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { phaseOfVolume, provisionedBy, unbindActions } from "./binding.ts";
import { recyclerPod } from "./recycler-pod.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/**
 * What becomes of a volume: available while no claim has it, bound with its claim, released when that is gone and then, as its reclaim
 * policy says, kept, deleted or wiped (documentation page "Persistent Volumes", Lifecycle).
 */
export function planVolume({ volume, claim, recycler }: VolumeSnapshot): Plan {
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined || (claimRef.uid ?? "") === "") return { actions: phaseOfVolume(volume, "Available") };
  if (claim === undefined || claim.metadata.uid !== claimRef.uid) return released(volume, recycler);
  const volumeName = claim.spec?.volumeName ?? "";
  // The claim's own turn completes the binding.
  if (volumeName === "") return nothingToDo;
  if (volumeName === volume.metadata.name) return { actions: phaseOfVolume(volume, "Bound") };
  const wasMadeForIt = volume.metadata.annotations?.[provisionedBy] !== undefined && volume.spec?.persistentVolumeReclaimPolicy === "Delete";
  return wasMadeForIt ? released(volume, recycler) : { actions: unbindActions(volume) };
}

export interface VolumeSnapshot {
  readonly volume: DeepReadonly<PersistentVolume>;
  /** Of the name that `spec.claimRef` gives. */
  readonly claim: DeepReadonly<PersistentVolumeClaim> | undefined;
  /** The pod that wipes the volume. */
  readonly recycler: DeepReadonly<Pod> | undefined;
}

function released(volume: DeepReadonly<PersistentVolume>, recycler: DeepReadonly<Pod> | undefined): Plan {
  const { phase } = volume.status ?? {};
  // Reclaiming follows when the cache shows the phase.
  if (phase !== "Released" && phase !== "Failed") return { actions: phaseOfVolume(volume, "Released") };
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case "Delete":
      return { actions: removal(volume) };
    case "Recycle":
      return { actions: recycling(volume, recycler) };
    default:
      return nothingToDo;
  }
}

/** CSI volumes are deleted by the provisioner that made them; of the kinds built in, only host paths under /tmp can be. */
function removal(volume: DeepReadonly<PersistentVolume>): Action[] {
  const { spec, metadata } = volume;
  if (spec?.csi !== undefined || metadata.annotations?.[provisionedBy] !== undefined || metadata.deletionTimestamp !== undefined) return [];
  const fail = (message: string) => phaseOfVolume(volume, "Failed", { reason: "VolumeFailedDelete", message });
  if (spec?.hostPath === undefined) return fail(`error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`);
  if (!/^\/tmp\/.+/.test(spec.hostPath.path)) return fail(`host_path deleter only supports /tmp/.+ but received provided ${spec.hostPath.path}`);
  return [deleteAction(resources.persistentVolumes, volume, {}, { onError: whenGone })];
}

function recycling(volume: DeepReadonly<PersistentVolume>, recycler: DeepReadonly<Pod> | undefined): Action[] {
  const { spec } = volume;
  const fail = (message: string) => phaseOfVolume(volume, "Failed", { reason: "VolumeFailedRecycle", message });
  if (spec?.nfs === undefined && spec?.hostPath === undefined) return fail("No recycler plugin found for the volume!");
  const away = (pod: DeepReadonly<Pod>) => deleteAction(resources.pods, pod, {}, { onError: whenGone });
  switch (recycler?.status?.phase) {
    case undefined:
      return recycler === undefined
        ? [createAction(resources.pods, recyclerPod(volume), { onError: (error) => ({ severity: isAlreadyExists(error) ? "ignore" : "stop" }) })]
        : [];
    case "Succeeded":
      return [away(recycler as DeepReadonly<Pod>), ...unbindActions(volume, { type: "Normal", reason: "VolumeRecycled", message: "Volume recycled" })];
    case "Failed":
      return [away(recycler as DeepReadonly<Pod>), ...fail(`Recycle failed: ${recycler?.status?.message ?? "pod failed, pod.Status.Message unknown"}`)];
    default:
      return [];
  }
}
