import { matchesLabels } from "../../apimachinery/selectors/label-selector.ts";
import { isInvalid, isNotFound } from "../../apimachinery/status.ts";
import { controllerOf, controllerReference } from "../../client/index.ts";
import { confirmAction, patchAction } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { LabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Action, ErrorDecision } from "../../operator/index.ts";

/**
 * Which of the candidates belong to an owner, and the writes that make it so (KEP "controller references"): objects that match the
 * selector and have no managing owner are adopted, after the owner was read again past the caches; own objects that match no longer are
 * released. An owner that is being deleted neither adopts nor releases. Adopted objects count as owned at once.
 */
export function claimObjects<T extends KubeObject>(claim: Claim<T>): Claimed<T> {
  const { owner, selector, canClaim = () => true } = claim;
  const owned: DeepReadonly<T>[] = [];
  const adopted: DeepReadonly<T>[] = [];
  const released: DeepReadonly<T>[] = [];
  for (const candidate of claim.candidates) {
    const manager = controllerOf(candidate);
    const isMatching = matchesLabels(selector, candidate.metadata.labels) && canClaim(candidate);
    if (manager !== undefined) {
      if (manager.uid !== owner.metadata.uid) continue;
      if (isMatching) owned.push(candidate);
      else if (owner.metadata.deletionTimestamp === undefined) released.push(candidate);
    } else if (isMatching && owner.metadata.deletionTimestamp === undefined && candidate.metadata.deletionTimestamp === undefined) {
      adopted.push(candidate);
    }
  }
  const actions: Action[] = released.map((object) => releaseAction(claim, object));
  if (adopted.length > 0) actions.push(confirmAction(claim.ownerResource, owner), ...adopted.map((object) => adoptAction(claim, object)));
  return { owned: [...owned, ...adopted], actions };
}

export interface Claim<T extends KubeObject> {
  readonly ownerResource: ResourceType;
  readonly owner: DeepReadonly<KubeObject>;
  readonly selector: LabelSelector;
  readonly resource: ResourceType<T>;
  readonly candidates: readonly DeepReadonly<T>[];
  /** A further condition beside the selector. */
  readonly canClaim?: (candidate: DeepReadonly<T>) => boolean;
  /** Finalizers that an adopted object gets and a released one loses. */
  readonly finalizers?: readonly string[];
}
export interface Claimed<T> {
  readonly owned: readonly DeepReadonly<T>[];
  readonly actions: readonly Action[];
}

function adoptAction<T extends KubeObject>({ ownerResource, owner, resource, finalizers }: Claim<T>, object: DeepReadonly<T>): Action {
  const metadata = {
    ownerReferences: [controllerReference(ownerResource, owner)],
    uid: object.metadata.uid,
    ...(finalizers !== undefined && { finalizers }),
  };
  return patchAction(resource, object, { type: "strategic", body: { metadata } }, { onError: "stop" });
}

function releaseAction<T extends KubeObject>({ owner, resource, finalizers }: Claim<T>, object: DeepReadonly<T>): Action {
  const metadata = {
    ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }],
    uid: object.metadata.uid,
    ...(finalizers !== undefined && { "$deleteFromPrimitiveList/finalizers": finalizers }),
  };
  return patchAction(resource, object, { type: "strategic", body: { metadata } }, { onError: whenReleaseFails });
}

/** It is gone, or it has no owners any more or another uid. */
function whenReleaseFails(error: Error): ErrorDecision {
  return { severity: isNotFound(error) || isInvalid(error) ? "ignore" : "continue" };
}
