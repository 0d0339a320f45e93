import { resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { planExpiry } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { ExpirySnapshot } from "./plan.ts";

/** Deletes finished Jobs when their time is up. Keys are Jobs. */
export function ttlAfterFinishedController(options: { readonly workers?: number } = {}): Controller {
  return defineController<ExpirySnapshot>({
    name: "ttl-after-finished-controller",
    workers: options.workers ?? 5,
    watches: [watch(resources.jobs, { keys: ownKey, isRelevant: ({ object }) => object.spec?.ttlSecondsAfterFinished !== undefined })],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const job = caches.of(resources.jobs).get(namespace, name);
      return job && { job };
    },
    plan: planExpiry,
  });
}
