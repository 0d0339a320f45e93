import { resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { isAddressChange, podsOfService, servicesOfPod } from "../services/service-pods.ts";
import { TriggerTimes } from "../services/trigger-times.ts";
import { planEndpoints } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { EndpointsSnapshot } from "./plan.ts";

/** Keeps the Endpoints of Services. Keys are Services. */
export function endpointsController(options: { readonly workers?: number } = {}): Controller {
  const triggerTimes = new TriggerTimes();
  return defineController<EndpointsSnapshot>({
    name: "endpoints-controller",
    account: "endpoint-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.services, { keys: ownKey }),
      watch(resources.pods, { keys: servicesOfPod, isRelevant: isAddressChange }),
      // What others write into Endpoints stays until the Service's addresses change.
      watch(resources.endpoints, { keys: ownKey, isRelevant: ({ kind }) => kind !== "update" }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const service = caches.of(resources.services).get(namespace, name);
      const endpoints = caches.of(resources.endpoints).get(namespace, name);
      if (service === undefined) {
        triggerTimes.forget(key);
        return endpoints && { service, endpoints, pods: [], triggerTime: undefined };
      }
      const pods = podsOfService(service, caches);
      return { service, endpoints, pods, triggerTime: triggerTimes.next(service, pods) };
    },
    plan: planEndpoints,
  });
}
