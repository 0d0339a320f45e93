import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { controllerOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { claimCandidates, ownedBy, ownerIndex } from "../ownership/owner-index.ts";
import { ownerKeys } from "../ownership/owner-keys.ts";
import { planReplicas } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ReplicaSet } from "../../api/apps-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { PodSet, ReplicasSnapshot } from "./plan.ts";

/** Keeps the pods of ReplicaSets. Keys are ReplicaSets. */
export function replicaSetController(options: { readonly workers?: number } = {}): Controller {
  return defineController<ReplicasSnapshot>({
    name: "replicaset-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.replicaSets, { keys: ownKey, indexes: ownerIndex }),
      watch(resources.pods, { keys: ownerKeys(resources.replicaSets, selectorOf), indexes: ownerIndex }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const replicaSet = caches.of(resources.replicaSets).get(namespace, name);
      if (replicaSet === undefined) return undefined;
      const set = podSetOf(replicaSet);
      const candidates = claimCandidates(caches.of(resources.pods), replicaSet);
      // Only the choice among too many asks for them.
      return { set, candidates, ...(candidates.length > set.replicas && { relatedPods: relatedPods(replicaSet, caches) }) };
    },
    plan: planReplicas,
  });
}

function selectorOf({ spec }: DeepReadonly<ReplicaSet>) {
  return selectorFromObject(spec?.selector);
}

function podSetOf(replicaSet: DeepReadonly<ReplicaSet>): PodSet {
  const { spec, status } = replicaSet;
  return {
    resource: resources.replicaSets,
    object: replicaSet,
    selector: selectorOf(replicaSet),
    template: spec?.template ?? {},
    replicas: spec?.replicas ?? 1,
    minReadySeconds: spec?.minReadySeconds ?? 0,
    status: status ?? { replicas: 0 },
    countsTerminating: true,
  };
}

/** Pods of all ReplicaSets with the same managing owner. */
function relatedPods(replicaSet: DeepReadonly<ReplicaSet>, caches: Caches): readonly DeepReadonly<Pod>[] {
  const pods = caches.of(resources.pods);
  const owner = controllerOf(replicaSet);
  if (owner === undefined) return ownedBy(pods, replicaSet);
  const siblings = caches.of(resources.replicaSets).byIndex("owner", owner.uid);
  return siblings.flatMap((sibling) => ownedBy(pods, sibling));
}
