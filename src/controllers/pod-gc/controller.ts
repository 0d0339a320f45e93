import { isNotFound } from "../../apimachinery/status.ts";
import { keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { onNode } from "../pods/node-index.ts";
import { isFinished } from "../pods/pod-state.ts";
import { planPodCollection, removal, surplusFinished } from "./plan.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";

/** Removes pods that nobody else will. Keys are pods, and `finished` for all finished ones together. */
export function podGarbageCollector(options: { readonly terminatedThreshold?: number; readonly quarantineMs?: number } = {}): Controller {
  const { terminatedThreshold = 12_500, quarantineMs = 40_000 } = options;
  const goneSinceMs = new Map<string, number>();
  return defineController({
    name: "pod-garbage-collector-controller",
    account: "pod-garbage-collector",
    watches: [
      watch(resources.pods, { keys: ownKey, indexes: onNode }),
      watch(resources.pods, { keys: () => ["finished"], isRelevant: ({ kind, object }) => kind !== "delete" && isFinished(object), delayMs: finishedPauseMs }),
      watch(resources.nodes, {
        keys: (node, caches) =>
          caches
            .of(resources.pods)
            .byIndex("node", node.metadata.name ?? "")
            .map(keyOf),
      }),
    ],
    async reconcile(key, context) {
      const { caches, clock } = context;
      if (key === "finished") {
        const actions = surplusFinished(caches.of(resources.pods).list(), terminatedThreshold).map(removal);
        await context.carryOut(key, { actions: [{ kind: "group", mode: "parallel", actions }] });
        return;
      }
      const { namespace, name } = splitKey(key);
      const pod = caches.of(resources.pods).get(namespace, name);
      if (pod === undefined) return;
      const nodeName = pod.spec?.nodeName ?? "";
      const node = caches.of(resources.nodes).get("", nodeName);
      const nowMs = clock.nowMs();
      if (node !== undefined || nodeName === "") goneSinceMs.delete(nodeName);
      else if (!goneSinceMs.has(nodeName)) goneSinceMs.set(nodeName, nowMs);
      const plan = planPodCollection({ pod, node, nodeGoneSinceMs: goneSinceMs.get(nodeName), quarantineMs }, nowMs);
      if (node === undefined && nodeName !== "" && plan.actions.length > 0 && (await isThere(nodeName, context)))
        return context.queue.addAfter(key, quarantineMs);
      await context.carryOut(key, plan);
    },
  });
}

/** Many pods that finish together are counted together. */
const finishedPauseMs = 20_000;

/** Past the cache: pods must not go because we hear of nodes late. */
async function isThere(nodeName: string, { client, signal }: ControllerContext): Promise<boolean> {
  try {
    await client.get(resources.nodes, "", nodeName, { signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
