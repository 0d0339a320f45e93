import { keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { planProtection } from "../volume-protection/plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";

/** Holds groups of pods until all pods that name them have ended (KEP-5832). Keys are groups. */
export function podGroupProtectionController(): Controller {
  return defineController({
    name: "podgroup-protection-controller",
    account: "podgroup-protection-controller",
    workers: 1,
    watches: [watch(resources.podGroups, { keys: ownKey }), watch(resources.pods, { keys: groupOfPod, indexes: { podGroup: groupOfPod } })],
    async reconcile(key, context) {
      const { namespace, name } = splitKey(key);
      const group = context.caches.of(resources.podGroups).get(namespace, name);
      if (group === undefined) return;
      const members = context.caches.of(resources.pods).byIndex("podGroup", key);
      const isReleasing = group.metadata.deletionTimestamp !== undefined && members.every(hasEnded);
      const isInUse = isReleasing && (await isUsedNow(group, context));
      await context.carryOut(
        key,
        planProtection({
          resource: resources.podGroups,
          object: group,
          finalizer: "scheduling.k8s.io/podgroup-protection",
          isInUse: () => !isReleasing || isInUse,
        }),
      );
    },
  });
}

/** Past the cache: a pod that came this moment must not lose its group. */
async function isUsedNow(group: DeepReadonly<PodGroup>, { client, signal }: ControllerContext): Promise<boolean> {
  const { items } = await client.list(resources.pods, group.metadata.namespace ?? "", { signal });
  return items.some((pod) => groupOfPod(pod as DeepReadonly<Pod>).includes(keyOf(group)) && !hasEnded(pod as DeepReadonly<Pod>));
}

/** The key of the group that the pod names, if it names one. */
export function groupOfPod({ metadata, spec }: DeepReadonly<Pod>): string[] {
  const name = spec?.schedulingGroup?.podGroupName ?? "";
  return name === "" ? [] : [`${metadata.namespace}/${name}`];
}

function hasEnded({ status }: DeepReadonly<Pod>): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
