/** A cloud of one machine: load balancers' addresses out of a pool that the machine's own proxy answers for. */
import type { Transport } from "../apimachinery/request.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { TaskGroup } from "../base/task-group.ts";
import { Client, EventRecorder, InformerSet, resources } from "../client/index.ts";
import { defineController, watch } from "../operator/index.ts";
import { planLoadBalancers } from "./load-balancers.ts";

export interface CloudOptions {
  /** As the service controller. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pool: readonly string[];
}

/** Runs until `signal` aborts. One key for all Services: no address is given twice. */
export async function runCloud({ transport, clock, random, log, pool }: CloudOptions, signal: AbortSignal): Promise<void> {
  const client = new Client({ transport, clock, userAgent: "coracle-cloud", signal });
  const events = new EventRecorder({ client, clock, random, log, component: "service-controller" });
  await using informers = new InformerSet({ client, clock, random, log });
  const controller = defineController({
    name: "service-lb-controller",
    workers: 1,
    watches: [
      watch(resources.services, {
        keys: () => ["services"],
        isRelevant: ({ object, old }) =>
          [object, old].some((service) => service?.spec?.type === "LoadBalancer" || (service?.metadata.finalizers ?? []).length > 0),
      }),
    ],
    snapshot: (_key, caches) => ({ services: caches.of(resources.services).list(), pool }),
    plan: planLoadBalancers,
  });
  const group = new TaskGroup({ parent: signal });
  group.start("events", (inner) => events.run(inner));
  group.start("load balancers", (inner) => controller.run({ client, informers, events, clock, random, log }, inner));
  await group.join();
}
