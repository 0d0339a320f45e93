import { resources, splitKey } from "../../client/index.ts";
import { defineController, deleteAction, nothingToDo, ownKey, watch } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PodCertificateRequest } from "../../api/certificates-v1/types.ts";
import type { Controller, Plan } from "../../operator/index.ts";

/** Deletes PodCertificateRequests some time after they were made: a kubelet asks for one at a time and keeps what it got (KEP-4317). Keys are requests. */
export function podCertificateRequestCleaner(): Controller {
  return defineController<DeepReadonly<PodCertificateRequest>>({
    name: "podcertificaterequest-cleaner-controller",
    account: "podcertificaterequestcleaner",
    workers: 1,
    watches: [watch(resources.podCertificateRequests, { keys: ownKey })],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      return caches.of(resources.podCertificateRequests).get(namespace, name);
    },
    plan: planRequestAge,
  });
}

const keptMs = 15 * 60_000;

/** Deletes a request whose time is over, or comes back when it will be. */
export function planRequestAge(request: DeepReadonly<PodCertificateRequest>, nowMs: number): Plan {
  const { creationTimestamp, deletionTimestamp } = request.metadata;
  if (creationTimestamp === undefined || deletionTimestamp !== undefined) return nothingToDo;
  const leftMs = Date.parse(creationTimestamp) + keptMs - nowMs;
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs };
  return { actions: [deleteAction(resources.podCertificateRequests, request, {}, { onError: whenGone })], reasons: ["it was made 15 minutes ago"] };
}
