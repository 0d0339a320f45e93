import { controllerOf, edited, resources } from "../../client/index.ts";
import { deleteAction, nothingToDo, updateAction, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { isPodDone } from "./pod-claims.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/**
 * Reservations of pods that are gone or done are taken off a claim; one that nobody uses any more is freed of its allocation, and
 * deleted if it was made for a pod that is done.
 */
export function planClaim({ claim, podOf, isGroupUsing }: ClaimSnapshot): Plan {
  const users = claim.status?.reservedFor ?? [];
  const left = users.filter(({ apiGroup = "", resource, name, uid }) => {
    if (apiGroup === "" && resource === "pods") return isUsedBy(podOf(name), uid);
    return apiGroup !== "scheduling.k8s.io" || resource !== "podgroups" || isGroupUsing?.(name, uid) !== false;
  });
  if (left.length > 0) return left.length === users.length ? nothingToDo : { actions: [reserved(claim, left, false)] };
  const isHeld = claim.metadata.finalizers?.includes(finalizer) === true;
  const isGoing = claim.metadata.deletionTimestamp !== undefined;
  const isFreed = isHeld && (users.length > 0 || (isGoing && claim.status?.allocation !== undefined));
  // The scheduler guards a claim before it allocates: a guard alone is none of our business until the claim has to go.
  const writes = users.length > 0 || isFreed ? [reserved(claim, [], isFreed)] : isHeld && isGoing ? [released(claim)] : [];
  return { actions: [...writes, ...removal(claim, podOf)] };
}

export interface ClaimSnapshot {
  readonly claim: DeepReadonly<ResourceClaim>;
  /** A pod of the claim's namespace. */
  readonly podOf: (name: string) => DeepReadonly<Pod> | undefined;
  /** Whether the group of that name and uid is there and has pods that are not done; absent where groups have no claims. */
  readonly isGroupUsing?: (name: string, uid: string) => boolean;
}

/** Set by the scheduler with an allocation. */
const finalizer = "resource.kubernetes.io/delete-protection";

function isUsedBy(pod: DeepReadonly<Pod> | undefined, uid: string): boolean {
  return pod !== undefined && pod.metadata.uid === uid && !isPodDone(pod);
}

function reserved(claim: DeepReadonly<ResourceClaim>, users: NonNullable<DeepReadonly<ResourceClaim>["status"]>["reservedFor"], isFreed: boolean): Action {
  const updated = edited<ResourceClaim>(claim, (draft) => {
    if (users === undefined || users.length === 0) delete draft.status?.reservedFor;
    else draft.status = { ...draft.status, reservedFor: users.map((user) => ({ ...user })) };
    if (isFreed) delete draft.status?.allocation;
  });
  return updateStatusAction(resources.resourceClaims, updated, { onError: whenGone, onDone: (now) => (isFreed ? [released(now)] : []) });
}

function released(claim: DeepReadonly<ResourceClaim>): Action {
  const updated = edited<ResourceClaim>(claim, (draft) => {
    draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  });
  return updateAction(resources.resourceClaims, updated, { onError: whenGone });
}

function removal(claim: DeepReadonly<ResourceClaim>, podOf: ClaimSnapshot["podOf"]): Action[] {
  const owner = controllerOf(claim);
  if (owner?.kind !== "Pod" || owner.apiVersion !== "v1" || claim.metadata.deletionTimestamp !== undefined) return [];
  const pod = podOf(owner.name);
  // Without its pod it is garbage, which is collected elsewhere.
  if (pod === undefined || pod.metadata.uid !== owner.uid || !isPodDone(pod)) return [];
  return [deleteAction(resources.resourceClaims, claim, {}, { onError: whenGone })];
}
