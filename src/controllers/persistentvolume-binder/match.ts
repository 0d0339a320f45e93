import { compareQuantities } from "../../apimachinery/quantity.ts";
import { matchesLabels, selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/core-v1/types.ts";

/**
 * The volume that suits a claim best (documentation page "Persistent Volumes", Binding): one that is reserved for it, else the one with
 * the fewest further access modes and, among these, the smallest. With `onlyReserved`, none but a reserved one.
 */
export function bestVolume(
  claim: DeepReadonly<PersistentVolumeClaim>,
  volumes: readonly DeepReadonly<PersistentVolume>[],
  onlyReserved: boolean,
): DeepReadonly<PersistentVolume> | undefined {
  const fitting = volumes.filter((volume) => volume.metadata.deletionTimestamp === undefined && mismatch(volume, claim) === undefined);
  const reserved = fitting.find((volume) => isReservedFor(volume, claim));
  if (reserved !== undefined || onlyReserved) return reserved;
  const selector = claim.spec?.selector === undefined ? undefined : selectorFromObject(claim.spec.selector);
  const free = fitting.filter(
    ({ spec, status, metadata }) =>
      spec?.claimRef === undefined && status?.phase === "Available" && (selector === undefined || matchesLabels(selector, metadata.labels)),
  );
  return free.toSorted(byModesAndSize)[0];
}

/** Why a volume cannot serve a claim, in the words of the event; undefined when it can. */
export function mismatch({ spec }: DeepReadonly<PersistentVolume>, claim: DeepReadonly<PersistentVolumeClaim>): string | undefined {
  const wanted = claim.spec ?? {};
  if (compareQuantities(spec?.capacity?.["storage"] ?? "0", wanted.resources?.requests?.["storage"] ?? "0") < 0) return "requested PV is too small";
  if ((spec?.storageClassName ?? "") !== classNameOf(claim)) return "storageClassName does not match";
  if ((spec?.volumeAttributesClassName ?? "") !== (wanted.volumeAttributesClassName ?? "")) return "volumeAttributesClassName does not match";
  if ((spec?.volumeMode ?? "Filesystem") !== (wanted.volumeMode ?? "Filesystem")) return "incompatible volumeMode";
  if (!(wanted.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode) === true)) return "incompatible accessMode";
  return undefined;
}

/** Whether a volume names the claim: by name, and by uid once it has one. */
export function isReservedFor({ spec }: DeepReadonly<PersistentVolume>, { metadata }: DeepReadonly<PersistentVolumeClaim>): boolean {
  const claimRef = spec?.claimRef;
  if (claimRef === undefined || claimRef.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return (claimRef.uid ?? "") === "" || claimRef.uid === metadata.uid;
}

/** The class of a claim; empty when it has none. The annotation is the older way to tell it. */
export function classNameOf({ metadata, spec }: DeepReadonly<PersistentVolumeClaim>): string {
  return metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? spec?.storageClassName ?? "";
}

function byModesAndSize({ spec: left }: DeepReadonly<PersistentVolume>, { spec: right }: DeepReadonly<PersistentVolume>): number {
  const modes = (left?.accessModes?.length ?? 0) - (right?.accessModes?.length ?? 0);
  return modes === 0 ? compareQuantities(left?.capacity?.["storage"] ?? "0", right?.capacity?.["storage"] ?? "0") : modes;
}
