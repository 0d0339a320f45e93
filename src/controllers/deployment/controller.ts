import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { controllerOf, resources, splitKey } from "../../client/index.ts";
import { controllerKey, defineController, ownKey, watch } from "../../operator/index.ts";
import { claimCandidates, ownedBy, ownerIndex } from "../ownership/owner-index.ts";
import { ownerKeys } from "../ownership/owner-keys.ts";
import { planDeployment } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { DeploymentSnapshot } from "./plan.ts";

/** Rolls Deployments out. Keys are Deployments. */
export function deploymentController(options: { readonly workers?: number } = {}): Controller {
  return defineController<DeploymentSnapshot>({
    name: "deployment-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.deployments, { keys: ownKey }),
      watch(resources.replicaSets, {
        keys: ownerKeys(resources.deployments, ({ spec }) => selectorFromObject(spec?.selector)),
        indexes: ownerIndex,
      }),
      // Strategy Recreate waits until the last old pod is gone.
      watch(resources.pods, { keys: recreatingDeployment, isRelevant: ({ kind }) => kind === "delete", indexes: ownerIndex }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const deployment = caches.of(resources.deployments).get(namespace, name);
      if (deployment === undefined) return undefined;
      const replicaSets = claimCandidates(caches.of(resources.replicaSets), deployment);
      const isRecreating = deployment.spec?.strategy?.type === "Recreate";
      const pods = isRecreating ? replicaSets.flatMap((replicaSet) => ownedBy(caches.of(resources.pods), replicaSet)) : [];
      const namesake = (wanted: string) => caches.of(resources.replicaSets).get(namespace, wanted);
      return { deployment, replicaSets, pods, namesake };
    },
    plan: planDeployment,
  });
}

function recreatingDeployment(pod: DeepReadonly<KubeObject>, caches: Caches): readonly string[] {
  const owner = controllerOf(pod);
  if (owner?.kind !== "ReplicaSet") return [];
  const namespace = pod.metadata.namespace ?? "";
  const replicaSet = caches.of(resources.replicaSets).get(namespace, owner.name);
  if (replicaSet === undefined) return [];
  const keys = controllerKey(resources.deployments)(replicaSet);
  return keys.filter((key) => caches.of(resources.deployments).get(namespace, splitKey(key).name)?.spec?.strategy?.type === "Recreate");
}
