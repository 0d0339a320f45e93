import { controllerOf, objectKey, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { ephemeralClaimName, planClaims } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { Controller } from "../../operator/index.ts";
import type { EphemeralSnapshot } from "./plan.ts";

/** Makes the claims of generic ephemeral volumes. Keys are pods. */
export function ephemeralVolumeController(options: { readonly workers?: number } = {}): Controller {
  return defineController<EphemeralSnapshot>({
    name: "ephemeral-volume-controller",
    eventSource: "ephemeral_volume",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.pods, { keys: ownKey, isRelevant: ({ object }) => hasEphemeralVolume(object) }),
      watch(resources.persistentVolumeClaims, { keys: podOfClaim }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const pod = caches.of(resources.pods).get(namespace, name);
      if (pod === undefined) return undefined;
      const claims = new Map<string, DeepReadonly<PersistentVolumeClaim>>();
      for (const volume of pod.spec?.volumes ?? []) {
        const claimName = ephemeralClaimName(pod, volume);
        const claim = caches.of(resources.persistentVolumeClaims).get(namespace, claimName);
        if (claim !== undefined) claims.set(claimName, claim);
      }
      return { pod, claims };
    },
    plan: planClaims,
  });
}

function hasEphemeralVolume({ spec }: DeepReadonly<Pod>): boolean {
  return (spec?.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined);
}

function podOfClaim(claim: DeepReadonly<PersistentVolumeClaim>): string[] {
  const owner = controllerOf(claim);
  return owner?.kind === "Pod" ? [objectKey(claim.metadata.namespace ?? "", owner.name)] : [];
}
