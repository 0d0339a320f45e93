import { deepCopy } from "../../apimachinery/json.ts";
import { controllerOf, controllerReference, referenceTo, resources } from "../../client/index.ts";
import { createAction, eventAction, nothingToDo } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolumeClaim, Pod, Volume } from "../../api/core-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** Every generic ephemeral volume of a pod has a claim `POD-VOLUME` that the pod owns (documentation page "Ephemeral Volumes"). */
export function planClaims({ pod, claims }: EphemeralSnapshot): Plan {
  if (pod.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const volumes = (pod.spec?.volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined);
  return { actions: volumes.flatMap((volume) => planClaim(pod, volume, claims)) };
}

export interface EphemeralSnapshot {
  readonly pod: DeepReadonly<Pod>;
  /** Claims that exist under the names of the pod's, by name. */
  readonly claims: ReadonlyMap<string, DeepReadonly<PersistentVolumeClaim>>;
}

export function ephemeralClaimName(pod: DeepReadonly<Pod>, volume: { readonly name: string }): string {
  return `${pod.metadata.name}-${volume.name}`;
}

function planClaim(pod: DeepReadonly<Pod>, volume: DeepReadonly<Volume>, claims: ReadonlyMap<string, DeepReadonly<PersistentVolumeClaim>>): Action[] {
  const name = ephemeralClaimName(pod, volume);
  const fail = (message: string) => eventAction(referenceTo(resources.pods, pod), { type: "Warning", reason: "FailedBinding", message });
  const known = claims.get(name);
  if (known !== undefined && controllerOf(known)?.uid === pod.metadata.uid) return [];
  const { namespace = "" } = pod.metadata;
  // A claim in the way stays: the scheduler tells why the pod has to wait.
  if (known !== undefined) return [];
  const template = volume.ephemeral?.volumeClaimTemplate;
  const { labels, annotations } = template?.metadata ?? {};
  const claim: PersistentVolumeClaim = {
    metadata: {
      name,
      namespace,
      ...(labels !== undefined && { labels: { ...labels } }),
      ...(annotations !== undefined && { annotations: { ...annotations } }),
      ownerReferences: [controllerReference(resources.pods, pod)],
    },
    spec: deepCopy(template?.spec ?? {}) as NonNullable<PersistentVolumeClaim["spec"]>,
  };
  return [
    createAction(resources.persistentVolumeClaims, claim, {
      onError: (error) => ({ severity: "continue", actions: [fail(`ephemeral volume "${volume.name}": create PVC: ${error.message}`)] }),
    }),
  ];
}
