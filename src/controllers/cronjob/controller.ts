import { resources, splitKey } from "../../client/index.ts";
import { controllerKey, defineController, ownKey, watch } from "../../operator/index.ts";
import { ownedBy, ownerIndex } from "../ownership/owner-index.ts";
import { planCronJob } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { CronJobSnapshot } from "./plan.ts";

/** Makes Jobs by the clock. Keys are CronJobs. */
export function cronJobController(options: { readonly workers?: number } = {}): Controller {
  return defineController<CronJobSnapshot>({
    name: "cronjob-controller",
    workers: options.workers ?? 5,
    watches: [watch(resources.cronJobs, { keys: ownKey }), watch(resources.jobs, { keys: controllerKey(resources.cronJobs), indexes: ownerIndex })],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const cronJob = caches.of(resources.cronJobs).get(namespace, name);
      return cronJob && { cronJob, jobs: ownedBy(caches.of(resources.jobs), cronJob) };
    },
    plan: planCronJob,
  });
}
