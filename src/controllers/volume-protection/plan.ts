import { formatTime } from "../../apimachinery/time.ts";
import { edited, resources } from "../../client/index.ts";
import { nothingToDo, updateAction, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimCondition, Pod } from "../../api/core-v1/types.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** What is in use is not lost by its deletion: a finalizer holds it until its last user is gone (documentation page "Persistent Volumes"). */
export function planProtection<T extends KubeObject>({ resource, object, finalizer, isInUse }: ProtectionSnapshot<T>): Plan {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  const isHeld = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined) return isHeld ? nothingToDo : { actions: [withFinalizers(resource, object, [...finalizers, finalizer])] };
  if (!isHeld || isInUse()) return nothingToDo;
  return {
    actions: [
      withFinalizers(
        resource,
        object,
        finalizers.filter((name) => name !== finalizer),
      ),
    ],
    reasons: ["nobody uses it any more"],
  };
}

export interface ProtectionSnapshot<T extends KubeObject> {
  readonly resource: ResourceType<T>;
  readonly object: DeepReadonly<T>;
  readonly finalizer: string;
  readonly isInUse: () => boolean;
}

/** A bound claim says whether a pod uses it. */
export function planUse(claim: DeepReadonly<PersistentVolumeClaim>, users: readonly DeepReadonly<Pod>[], nowMs: number): Plan {
  if (claim.status?.phase !== "Bound" || claim.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const isUnused = users.every(({ status }) => status?.phase === "Succeeded" || status?.phase === "Failed");
  const current = claim.status.conditions?.find(({ type }) => type === "Unused");
  if (current?.status === (isUnused ? "True" : "False")) return nothingToDo;
  const condition: PersistentVolumeClaimCondition = {
    type: "Unused",
    status: isUnused ? "True" : "False",
    lastTransitionTime: formatTime(nowMs),
    reason: isUnused ? "NoPodsUsingPVC" : "PodUsingPVC",
    message: isUnused ? "No pods are currently referencing this PVC" : "A pod is currently referencing this PVC",
  };
  const updated = edited<PersistentVolumeClaim>(claim, (draft) => {
    draft.status = { ...draft.status, conditions: [...(draft.status?.conditions ?? []).filter(({ type }) => type !== "Unused"), condition] };
  });
  return { actions: [updateStatusAction(resources.persistentVolumeClaims, updated, { onError: whenGone })] };
}

/** Claims of a namespace that a pod uses, its ephemeral volumes' included. */
export function claimsOfPod({ metadata, spec }: DeepReadonly<Pod>): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${metadata.namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${metadata.namespace}/${metadata.name}-${name}`];
  });
}

function withFinalizers<T extends KubeObject>(resource: ResourceType<T>, object: DeepReadonly<T>, finalizers: readonly string[]): Action {
  const updated = edited<T>(object, (draft) => {
    draft.metadata.finalizers = [...finalizers];
  });
  return updateAction(resource as ResourceType, updated as DeepReadonly<KubeObject>, { onError: whenGone });
}
