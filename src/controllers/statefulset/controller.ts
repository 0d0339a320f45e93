import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { claimCandidates, ownerIndex } from "../ownership/owner-index.ts";
import { ownerKeys } from "../ownership/owner-keys.ts";
import { planStatefulSet } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { StatefulSet } from "../../api/apps-v1/types.ts";
import type { Controller } from "../../operator/index.ts";
import type { StatefulSetSnapshot } from "./plan.ts";

/** Keeps the pods and claims of StatefulSets. Keys are StatefulSets. */
export function statefulSetController(options: { readonly workers?: number } = {}): Controller {
  const selectorOf = ({ spec }: DeepReadonly<StatefulSet>) => selectorFromObject(spec?.selector);
  return defineController<StatefulSetSnapshot>({
    name: "statefulset-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.statefulSets, { keys: ownKey }),
      watch(resources.pods, { keys: ownerKeys(resources.statefulSets, selectorOf), indexes: ownerIndex }),
      watch(resources.controllerRevisions, { keys: ownerKeys(resources.statefulSets, selectorOf), indexes: ownerIndex }),
      watch(resources.persistentVolumeClaims),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const set = caches.of(resources.statefulSets).get(namespace, name);
      if (set === undefined) return undefined;
      const needsClaims = (set.spec?.volumeClaimTemplates ?? []).length > 0;
      const claims = needsClaims ? caches.of(resources.persistentVolumeClaims).list(namespace) : [];
      return {
        set,
        pods: claimCandidates(caches.of(resources.pods), set),
        revisions: claimCandidates(caches.of(resources.controllerRevisions), set),
        namesake: (wanted: string) => caches.of(resources.controllerRevisions).get(namespace, wanted),
        claims: new Map(claims.map((claim) => [claim.metadata.name ?? "", claim])),
      };
    },
    plan: planStatefulSet,
  });
}
