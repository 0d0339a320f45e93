import { edited, resources } from "../../client/index.ts";
import { updateAction } from "../../operator/index.ts";
import { bindActions, bindCompleted, claimEvent, phaseOfClaim } from "./binding.ts";
import { bestVolume, classNameOf, isReservedFor, mismatch } from "./match.ts";
import { provisionActions } from "./provision.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/core-v1/types.ts";
import type { StorageClass } from "../../api/storage-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/**
 * What becomes of a claim (documentation page "Persistent Volumes"): it is bound to the volume it names, or to the best that is free, or
 * its class is asked to make one; once bound it stays with its volume, and is lost when that is gone.
 */
export function planClaim(snapshot: ClaimSnapshot): Plan {
  const { claim, named } = snapshot;
  if (claim.metadata.annotations?.[bindCompleted] !== undefined) return { actions: boundClaim(claim, named) };
  const actions = (claim.spec?.volumeName ?? "") === "" ? choose(snapshot) : takeNamed(claim, named);
  return { actions, ...(claim.status?.phase !== "Bound" && { requeueAfterMs: lookAgainMs }) };
}

export interface ClaimSnapshot {
  readonly claim: DeepReadonly<PersistentVolumeClaim>;
  /** The volume that `spec.volumeName` names, if it exists. */
  readonly named: DeepReadonly<PersistentVolume> | undefined;
  readonly volumes: readonly DeepReadonly<PersistentVolume>[];
  /** The claim's class, if it exists. */
  readonly storageClass: DeepReadonly<StorageClass> | undefined;
  readonly defaultClass: DeepReadonly<StorageClass> | undefined;
  /** Names of pods that use the claim and have no node yet. */
  readonly waitingPods: readonly string[];
}

/** The class that claims without one get: the youngest of those marked as default. */
export function defaultClassOf(classes: readonly DeepReadonly<StorageClass>[]): DeepReadonly<StorageClass> | undefined {
  const marks = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
  const age = ({ metadata }: DeepReadonly<StorageClass>) => metadata.creationTimestamp ?? "";
  return classes
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === "true"))
    .toSorted((left, right) => age(right).localeCompare(age(left)) || (left.metadata.name ?? "").localeCompare(right.metadata.name ?? ""))[0];
}

/** Claims without a volume are looked at this often, and say each time why. */
const lookAgainMs = 15_000;

function boundClaim(claim: DeepReadonly<PersistentVolumeClaim>, volume: DeepReadonly<PersistentVolume> | undefined): Action[] {
  const lost = (reason: string, message: string) => phaseOfClaim(claim, "Lost", { type: "Warning", reason, message });
  if ((claim.spec?.volumeName ?? "") === "") return lost("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
  if (volume === undefined) return lost("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return bindActions(volume, claim);
  return lost("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly");
}

function takeNamed(claim: DeepReadonly<PersistentVolumeClaim>, volume: DeepReadonly<PersistentVolume> | undefined): Action[] {
  const pending = phaseOfClaim(claim, "Pending");
  if (volume === undefined) return pending;
  if (isReservedFor(volume, claim)) return bindActions(volume, claim);
  const name = volume.metadata.name ?? "";
  if (volume.spec?.claimRef !== undefined) {
    return [claimEvent(claim, { type: "Warning", reason: "FailedBinding", message: `volume "${name}" already bound to a different claim.` }), ...pending];
  }
  const fault = mismatch(volume, claim);
  if (fault === undefined) return bindActions(volume, claim);
  return [claimEvent(claim, { type: "Warning", reason: "VolumeMismatch", message: `Cannot bind to requested volume "${name}": ${fault}` }), ...pending];
}

function choose({ claim, volumes, storageClass, defaultClass, waitingPods }: ClaimSnapshot): Action[] {
  const isDelayed = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const volume = bestVolume(claim, volumes, isDelayed);
  if (volume !== undefined) return bindActions(volume, claim);
  const pending = phaseOfClaim(claim, "Pending");
  const hasClass = claim.spec?.storageClassName !== undefined || classNameOf(claim) !== "";
  if (!hasClass && defaultClass !== undefined) return [withClass(claim, defaultClass)];
  if (isDelayed && claim.metadata.annotations?.["volume.kubernetes.io/selected-node"] === undefined) {
    return [claimEvent(claim, { type: "Normal", ...waitingText(waitingPods) }), ...pending];
  }
  if (classNameOf(claim) !== "") return [...pending, ...provisionActions(claim, storageClass)];
  const message = "no persistent volumes available for this claim and no storage class is set";
  return [claimEvent(claim, { type: "Normal", reason: "FailedBinding", message }), ...pending];
}

function withClass(claim: DeepReadonly<PersistentVolumeClaim>, { metadata }: DeepReadonly<StorageClass>): Action {
  const updated = edited<PersistentVolumeClaim>(claim, (draft) => {
    draft.spec = { ...draft.spec, storageClassName: metadata.name ?? "" };
  });
  return updateAction(resources.persistentVolumeClaims, updated);
}

function waitingText(pods: readonly string[]): { reason: string; message: string } {
  if (pods.length === 0) return { reason: "WaitForFirstConsumer", message: "waiting for first consumer to be created before binding" };
  return { reason: "WaitForPodScheduled", message: `waiting for ${pods.length === 1 ? "pod" : "pods"} ${pods.join(",")} to be scheduled` };
}
