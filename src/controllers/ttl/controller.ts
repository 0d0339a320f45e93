import { keyOf, resources } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { planTtl, ttlStep, ttlSteps } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { TtlSnapshot } from "./plan.ts";

/** Keeps the nodes' TTL annotation. Keys are nodes. */
export function ttlController(): Controller {
  let step = 0;
  return defineController<TtlSnapshot>({
    name: "ttl-controller",
    watches: [
      watch(resources.nodes, { keys: ownKey }),
      watch(resources.nodes, {
        isRelevant: ({ kind }) => kind !== "update",
        keys(_node, caches) {
          const nodes = caches.of(resources.nodes).list();
          const before = step;
          step = ttlStep(step, nodes.length);
          return step === before ? [] : nodes.map(keyOf);
        },
      }),
    ],
    snapshot(name, caches) {
      const node = caches.of(resources.nodes).get("", name);
      return node && { node, ttlSeconds: ttlSteps[step]!.seconds };
    },
    plan: planTtl,
  });
}
