import { objectKey, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { onNode } from "../pods/node-index.ts";
import { isAddressChange, podsOfService, servicesOfPod } from "../services/service-pods.ts";
import { TriggerTimes } from "../services/trigger-times.ts";
import { planEndpointSlices, managedByLabel, serviceNameLabel, sliceManager } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { EndpointSliceSnapshot } from "./plan.ts";

/** Keeps the EndpointSlices of Services. Keys are Services. */
export function endpointSliceController(options: { readonly workers?: number; readonly maxEndpointsPerSlice?: number } = {}): Controller {
  const triggerTimes = new TriggerTimes();
  return defineController<EndpointSliceSnapshot>({
    name: "endpointslice-controller",
    eventSource: "endpoint-slice-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.services, { keys: ownKey }),
      watch(resources.pods, { keys: servicesOfPod, isRelevant: isAddressChange, indexes: onNode }),
      // A node that changes its zone tells by its pods' next change.
      watch(resources.nodes, { keys: servicesOnNode, isRelevant: ({ kind }) => kind !== "update" }),
      watch(resources.endpointSlices, { keys: serviceOfSlice, indexes: { service: serviceOfSlice } }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const service = caches.of(resources.services).get(namespace, name);
      if (service === undefined) {
        triggerTimes.forget(key);
        return undefined;
      }
      const pods = podsOfService(service, caches);
      return {
        service,
        pods,
        nodeOf: (node) => caches.of(resources.nodes).get("", node),
        slices: caches.of(resources.endpointSlices).byIndex("service", key),
        triggerTime: triggerTimes.next(service, pods),
        maxEndpointsPerSlice: options.maxEndpointsPerSlice ?? 100,
      };
    },
    plan: planEndpointSlices,
  });
}

function serviceOfSlice({ metadata }: DeepReadonly<EndpointSlice>): readonly string[] {
  const service = metadata.labels?.[serviceNameLabel];
  if (service === undefined || metadata.labels?.[managedByLabel] !== sliceManager) return [];
  return [objectKey(metadata.namespace ?? "", service)];
}

function servicesOnNode({ metadata }: DeepReadonly<Node>, caches: Caches): readonly string[] {
  const pods = caches.of(resources.pods).byIndex("node", metadata.name ?? "");
  return [...new Set(pods.flatMap((pod) => servicesOfPod(pod, caches)))];
}
