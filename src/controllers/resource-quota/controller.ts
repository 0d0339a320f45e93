import { deepEqual } from "../../apimachinery/json.ts";
import { keyOf, metadataOf, preferredResources, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { Monitors } from "../garbage-collector/monitors.ts";
import { isFinished } from "../pods/pod-state.ts";
import { planQuota } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { DiscoveredResource, ResourceType } from "../../client/index.ts";
import type { Caches, Controller, ControllerContext } from "../../operator/index.ts";
import type { Holding, QuotaRules } from "./plan.ts";

/**
 * Counts what namespaces use. Keys are quotas, and `discover`. What is added the API server has charged already; counted anew is when a
 * quota is made or changed, and when something goes.
 */
export function resourceQuotaController(options: { readonly rules: QuotaRules; readonly workers?: number }): Controller {
  const { rules } = options;
  let discovered: readonly DiscoveredResource[] | undefined;
  let monitors: Monitors | undefined;
  return defineController({
    name: "resourcequota-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.resourceQuotas, {
        keys: ownKey,
        isRelevant: ({ object, old }) => old === undefined || !deepEqual(object.spec, old.spec) || object.status?.hard === undefined,
      }),
      watch(resources.pods, { keys: quotasBeside, isRelevant: ({ object, old }) => old !== undefined && isFinished(object) && !isFinished(old) }),
      watch(resources.services, { keys: quotasBeside, isRelevant: ({ object, old }) => old !== undefined && !deepEqual(object.spec, old.spec) }),
      watch(resources.persistentVolumeClaims, { keys: quotasBeside, isRelevant: ({ object, old }) => old !== undefined && !deepEqual(object.spec, old.spec) }),
      watch(resources.customResourceDefinitions, { keys: () => ["discover"], delayMs: 200 }),
    ],
    async start(context) {
      const { client, clock, informers, caches, queue, signal } = context;
      monitors = new Monitors({
        client,
        clock,
        informers,
        onChange: (_resource, { kind, object }) => {
          if (kind === "delete") for (const key of quotasBeside(object, caches)) queue.add(key);
        },
      });
      queue.add("discover");
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      monitors.close();
    },
    async reconcile(key, context) {
      if (key === "discover") {
        const isFirst = discovered === undefined;
        discovered = preferredResources((await monitors?.refresh(context.signal)) ?? []);
        if (isFirst) for (const quota of context.caches.of(resources.resourceQuotas).list()) context.queue.add(keyOf(quota));
        return;
      }
      const { namespace, name } = splitKey(key);
      const quota = context.caches.of(resources.resourceQuotas).get(namespace, name);
      // All quotas are counted once the resources are known.
      if (quota === undefined || discovered === undefined) return;
      const names = Object.keys(quota.spec?.hard ?? {});
      const counted = discovered.filter(({ type }) => type.isNamespaced && names.some((candidate) => rules.counts(type.group, type.resource, candidate)));
      const holdings = counted.map(({ type }): Holding => ({ group: type.group, resource: type.resource, objects: objectsOf(type, namespace, context) }));
      await context.carryOut(key, planQuota({ quota, holdings, rules }));
    },
  });
}

/** Where only numbers count, metadata are enough. */
function objectsOf(type: ResourceType, namespace: string, { caches, informers }: ControllerContext): readonly DeepReadonly<KubeObject>[] {
  if (type.group === "") {
    const full = [resources.pods, resources.services, resources.persistentVolumeClaims].find(({ resource }) => resource === type.resource);
    if (full !== undefined) return caches.of(full as unknown as ResourceType).list(namespace);
  }
  const { informer, release } = informers.borrow(metadataOf(type));
  try {
    return informer.list(namespace);
  } finally {
    release();
  }
}

function quotasBeside(object: DeepReadonly<KubeObject>, caches: Caches): readonly string[] {
  return caches
    .of(resources.resourceQuotas)
    .list(object.metadata.namespace ?? "")
    .map(keyOf);
}
