import { selectorFromLabels } from "../../apimachinery/selectors/label-selector.ts";
import { resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { claimCandidates, ownerIndex } from "../ownership/owner-index.ts";
import { ownerKeys } from "../ownership/owner-keys.ts";
import { planReplicas } from "../replicaset/plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ReplicationController } from "../../api/core-v1/types.ts";
import type { Controller } from "../../operator/index.ts";
import type { PodSet, ReplicasSnapshot } from "../replicaset/plan.ts";

/** Keeps the pods of ReplicationControllers, as those of ReplicaSets are kept. Keys are ReplicationControllers. */
export function replicationControllerController(options: { readonly workers?: number } = {}): Controller {
  return defineController<ReplicasSnapshot>({
    name: "replicationcontroller-controller",
    account: "replication-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.replicationControllers, { keys: ownKey }),
      watch(resources.pods, { keys: ownerKeys(resources.replicationControllers, selectorOf), indexes: ownerIndex }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const set = caches.of(resources.replicationControllers).get(namespace, name);
      return set && { set: podSetOf(set), candidates: claimCandidates(caches.of(resources.pods), set) };
    },
    plan: planReplicas,
  });
}

function selectorOf({ spec }: DeepReadonly<ReplicationController>) {
  return selectorFromLabels(spec?.selector ?? {});
}

function podSetOf(set: DeepReadonly<ReplicationController>): PodSet {
  const { spec, status } = set;
  return {
    resource: resources.replicationControllers,
    object: set,
    selector: selectorOf(set),
    template: spec?.template ?? {},
    replicas: spec?.replicas ?? 1,
    minReadySeconds: spec?.minReadySeconds ?? 0,
    status: status ?? { replicas: 0 },
    countsTerminating: false,
  };
}
