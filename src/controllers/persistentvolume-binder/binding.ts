import { deepEqual } from "../../apimachinery/json.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { eventAction, updateAction, updateStatusAction } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/core-v1/types.ts";
import type { EventText } from "../../client/index.ts";
import type { Action } from "../../operator/index.ts";

/** Set on what this controller chose, so that it may be undone; what people chose may not. */
export const boundByController = "pv.kubernetes.io/bound-by-controller";
/** Set on a claim once both sides know each other: from then on a missing volume is a loss. */
export const bindCompleted = "pv.kubernetes.io/bind-completed";
export const provisionedBy = "pv.kubernetes.io/provisioned-by";

/** Brings both sides of a binding to the state in which they know each other: volume, its phase, claim, its phase. */
export function bindActions(volume: DeepReadonly<PersistentVolume>, claim: DeepReadonly<PersistentVolumeClaim>): Action[] {
  return [
    ...writeVolume(volume, claimed(volume, claim), (now) => phaseOfVolume(now, "Bound")),
    ...writeClaim(claim, completed(claim, volume), (now) => boundStatus(now, volume)),
  ];
}

/** The volume's phase, when it is another; none otherwise. */
export function phaseOfVolume(volume: DeepReadonly<PersistentVolume>, phase: string, failure?: { reason: string; message: string }): Action[] {
  const message = failure?.message ?? "";
  if (volume.status?.phase === phase && (volume.status.message ?? "") === message) return [];
  const updated = edited<PersistentVolume>(volume, (draft) => {
    draft.status = { ...draft.status, phase };
    delete draft.status.message;
    if (message !== "") draft.status.message = message;
  });
  const regarding = referenceTo(resources.persistentVolumes, volume);
  const tell = () => (failure === undefined ? [] : [eventAction(regarding, { type: "Warning", ...failure })]);
  return [updateStatusAction(resources.persistentVolumes, updated, { onDone: tell })];
}

/** A claim's phase while it has no volume; `event` is told when the phase changes. */
export function phaseOfClaim(claim: DeepReadonly<PersistentVolumeClaim>, phase: "Pending" | "Lost", event?: EventText): Action[] {
  if (claim.status?.phase === phase) return [];
  const updated = edited<PersistentVolumeClaim>(claim, (draft) => {
    draft.status = { ...draft.status, phase };
    delete draft.status.accessModes;
    delete draft.status.capacity;
  });
  return [updateStatusAction(resources.persistentVolumeClaims, updated, { onDone: () => (event === undefined ? [] : [claimEvent(claim, event)]) })];
}

/** Takes a volume from its claim: wholly if the controller gave it, else it stays reserved for a claim of that name. */
export function unbindActions(volume: DeepReadonly<PersistentVolume>, event?: EventText): Action[] {
  const updated = edited<PersistentVolume>(volume, (draft) => {
    if (draft.metadata.annotations?.[boundByController] === undefined) return void delete draft.spec?.claimRef?.uid;
    delete draft.spec?.claimRef;
    delete draft.metadata.annotations[boundByController];
  });
  const tell = event === undefined ? [] : [eventAction(referenceTo(resources.persistentVolumes, volume), event)];
  return writeVolume(volume, updated, (now) => [...phaseOfVolume(now, "Available"), ...tell]);
}

export function claimEvent(claim: DeepReadonly<PersistentVolumeClaim>, event: EventText): Action {
  return eventAction(referenceTo(resources.persistentVolumeClaims, claim), event);
}

function claimed(volume: DeepReadonly<PersistentVolume>, claim: DeepReadonly<PersistentVolumeClaim>): PersistentVolume {
  return edited<PersistentVolume>(volume, (draft) => {
    const isFirst = draft.spec?.claimRef === undefined;
    if (!isFirst && draft.spec?.claimRef?.uid === claim.metadata.uid) return;
    draft.spec = { ...draft.spec, claimRef: { ...referenceTo(resources.persistentVolumeClaims, claim) } };
    if (isFirst) draft.metadata.annotations = { ...draft.metadata.annotations, [boundByController]: "yes" };
  });
}

function completed(claim: DeepReadonly<PersistentVolumeClaim>, volume: DeepReadonly<PersistentVolume>): PersistentVolumeClaim {
  return edited<PersistentVolumeClaim>(claim, (draft) => {
    const isOurs = (draft.spec?.volumeName ?? "") === "";
    if (isOurs) draft.spec = { ...draft.spec, volumeName: volume.metadata.name ?? "" };
    draft.metadata.annotations = { ...draft.metadata.annotations, [bindCompleted]: "yes", ...(isOurs && { [boundByController]: "yes" }) };
  });
}

/** Capacity is taken over only when the claim becomes bound: later it is the resizer's business. */
function boundStatus(claim: DeepReadonly<PersistentVolumeClaim>, { spec }: DeepReadonly<PersistentVolume>): Action[] {
  const isNew = claim.status?.phase !== "Bound";
  const updated = edited<PersistentVolumeClaim>(claim, (draft) => {
    draft.status = { ...draft.status, phase: "Bound", accessModes: [...(spec?.accessModes ?? [])] };
    if (!isNew) return;
    draft.status.capacity = { ...spec?.capacity };
    if (spec?.volumeAttributesClassName !== undefined) draft.status.currentVolumeAttributesClassName = spec.volumeAttributesClassName;
  });
  return deepEqual(updated.status, claim.status) ? [] : [updateStatusAction(resources.persistentVolumeClaims, updated)];
}

function writeVolume(old: DeepReadonly<PersistentVolume>, updated: PersistentVolume, then: (now: DeepReadonly<PersistentVolume>) => Action[]): Action[] {
  return deepEqual(updated, old) ? then(old) : [updateAction(resources.persistentVolumes, updated, { onDone: then })];
}

function writeClaim(
  old: DeepReadonly<PersistentVolumeClaim>,
  updated: PersistentVolumeClaim,
  then: (now: DeepReadonly<PersistentVolumeClaim>) => Action[],
): Action[] {
  return deepEqual(updated, old) ? then(old) : [updateAction(resources.persistentVolumeClaims, updated, { onDone: then })];
}
