import { objectKey, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { managedByLabel, serviceNameLabel } from "../endpointslice/plan.ts";
import { mirrorManager, planMirror } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";
import type { Controller } from "../../operator/index.ts";
import type { MirrorSnapshot } from "./plan.ts";

/** Mirrors Endpoints into EndpointSlices. Keys are Endpoints, which have the names of their Services. */
export function endpointSliceMirroringController(options: { readonly workers?: number } = {}): Controller {
  return defineController<MirrorSnapshot>({
    name: "endpointslice-mirroring-controller",
    account: "endpointslicemirroring-controller",
    eventSource: "endpoint-slice-mirroring-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.endpoints, { keys: ownKey }),
      watch(resources.services, {
        keys: ownKey,
        isRelevant: ({ object, old }) => old === undefined || (old.spec?.selector === undefined) !== (object.spec?.selector === undefined),
      }),
      watch(resources.endpointSlices, { keys: mirroredService, indexes: { mirror: mirroredService } }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      return {
        endpoints: caches.of(resources.endpoints).get(namespace, name),
        service: caches.of(resources.services).get(namespace, name),
        slices: caches.of(resources.endpointSlices).byIndex("mirror", key),
      };
    },
    plan: planMirror,
  });
}

function mirroredService({ metadata }: DeepReadonly<EndpointSlice>): readonly string[] {
  const service = metadata.labels?.[serviceNameLabel];
  return service === undefined || metadata.labels?.[managedByLabel] !== mirrorManager ? [] : [objectKey(metadata.namespace ?? "", service)];
}
