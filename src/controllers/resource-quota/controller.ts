import { deepEqual } from "../../apimachinery/json.ts";
import { keyOf, metadataOf, preferredResources, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { Monitors } from "../garbage-collector/monitors.ts";
import { isFinished } from "../pods/pod-state.ts";
import { planQuota } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceQuota } from "../../api/core-v1/types.ts";
import type { DiscoveredResource, ResourceType } from "../../client/index.ts";
import type { Caches, Controller, ControllerContext } from "../../operator/index.ts";
import type { Holding, QuotaRules } from "./plan.ts";

/**
 * Counts what namespaces use. Keys are quotas, and `discover`. What is added the API server has charged already; counted anew is when a
 * quota is made or changed, when something goes, and every few minutes.
 */
export function resourceQuotaController(options: QuotaControllerOptions): Controller {
  const { rules, syncPeriodMs = 300_000 } = options;
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
      const holdings: Holding[] = [];
      for (const { type } of counted) holdings.push({ group: type.group, resource: type.resource, objects: await objectsOf(type, quota, context) });
      await context.carryOut(key, { ...planQuota({ quota, holdings, rules }), requeueAfterMs: syncPeriodMs });
    },
  });
}

export interface QuotaControllerOptions {
  /** How the API server counts. */
  readonly rules: QuotaRules;
  readonly workers?: number;
  /** A quota is counted anew after so long, for what was charged and then refused. Default 5 min. */
  readonly syncPeriodMs?: number;
}

/**
 * What a quota's namespace holds of a resource; where only numbers count, metadata are enough. What the server charged is in the quota's
 * version: a cache that is older may lack what was charged for, and to leave that out would let more in than is allowed, so the server is asked.
 */
async function objectsOf(
  type: ResourceType,
  { metadata: { namespace = "", resourceVersion = "" } }: DeepReadonly<ResourceQuota>,
  { client, informers, signal }: ControllerContext,
): Promise<readonly DeepReadonly<KubeObject>[]> {
  const full = type.group === "" && [resources.pods, resources.services, resources.persistentVolumeClaims].find(({ resource }) => resource === type.resource);
  const counted = full ? (full as unknown as ResourceType) : metadataOf(type);
  const { informer, release } = informers.borrow(counted);
  try {
    if (informer.hasSeen(resourceVersion)) return informer.list(namespace);
  } finally {
    release();
  }
  const { items } = await client.list(counted, namespace, { signal });
  return items as DeepReadonly<KubeObject>[];
}

function quotasBeside(object: DeepReadonly<KubeObject>, caches: Caches): readonly string[] {
  return caches
    .of(resources.resourceQuotas)
    .list(object.metadata.namespace ?? "")
    .map(keyOf);
}
