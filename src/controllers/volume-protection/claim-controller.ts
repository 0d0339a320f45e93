import { keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { claimsOfPod, planProtection, planUse } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";

/** Holds claims that pods use. Keys are claims. */
export function claimProtectionController(): Controller {
  return defineController({
    name: "persistentvolumeclaim-protection-controller",
    account: "pvc-protection-controller",
    workers: 1,
    watches: [watch(resources.persistentVolumeClaims, { keys: ownKey }), watch(resources.pods, { keys: claimsOfPod, indexes: { claim: claimsOfPod } })],
    async reconcile(key, context) {
      const { namespace, name } = splitKey(key);
      const claim = context.caches.of(resources.persistentVolumeClaims).get(namespace, name);
      if (claim === undefined) return;
      const users = context.caches.of(resources.pods).byIndex("claim", key);
      const isReleasing = claim.metadata.deletionTimestamp !== undefined && !users.some(holdsClaim);
      const isInUse = isReleasing && (await isUsedNow(claim, context));
      const plan = planProtection({
        resource: resources.persistentVolumeClaims,
        object: claim,
        finalizer: "kubernetes.io/pvc-protection",
        isInUse: () => !isReleasing || isInUse,
      });
      await context.carryOut(key, plan.actions.length > 0 ? plan : planUse(claim, users, context.clock.nowMs()));
    },
  });
}

/** A pod holds its claims once it is on a node, even after it has ended, unless it has been shut down. */
function holdsClaim({ spec, status, metadata }: DeepReadonly<Pod>): boolean {
  if ((spec?.nodeName ?? "") === "") return false;
  const isShutDown =
    metadata.deletionTimestamp !== undefined &&
    metadata.deletionGracePeriodSeconds === 0 &&
    (status?.containerStatuses ?? []).every(({ state }) => state?.running === undefined);
  return !isShutDown;
}

/** Past the cache: a pod that came this moment must not lose its volume. */
async function isUsedNow(claim: DeepReadonly<PersistentVolumeClaim>, { client, signal }: ControllerContext): Promise<boolean> {
  const { items } = await client.list(resources.pods, claim.metadata.namespace ?? "", { signal });
  return items.some((pod) => claimsOfPod(pod as DeepReadonly<Pod>).includes(keyOf(claim)) && holdsClaim(pod as DeepReadonly<Pod>));
}
