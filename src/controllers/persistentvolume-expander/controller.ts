import { compareQuantities } from "../../apimachinery/quantity.ts";
import { referenceTo, resources, splitKey } from "../../client/index.ts";
import { defineController, eventAction, nothingToDo, ownKey, watch } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolumeClaim } from "../../api/core-v1/types.ts";
import type { Controller, Plan } from "../../operator/index.ts";

/** Tells of claims that ask for more than they have: all drivers are outside, and so are their resizers. Keys are claims. */
export function volumeExpanderController(): Controller {
  return defineController<DeepReadonly<PersistentVolumeClaim>>({
    name: "persistentvolume-expander-controller",
    account: "expand-controller",
    eventSource: "volume_expand",
    watches: [watch(resources.persistentVolumeClaims, { keys: ownKey, isRelevant: ({ object, old }) => old !== undefined && hasGrown(old, object) })],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      return caches.of(resources.persistentVolumeClaims).get(namespace, name);
    },
    plan: planExpansion,
  });
}

/** A bound claim that asks for more waits for its driver's resizer (documentation page "Persistent Volumes", Expanding). */
export function planExpansion(claim: DeepReadonly<PersistentVolumeClaim>): Plan {
  const { spec, status } = claim;
  const isLarger = compareQuantities(requestOf(claim), status?.capacity?.["storage"] ?? "0") > 0;
  if (status?.phase !== "Bound" || (spec?.volumeName ?? "") === "" || !isLarger) return nothingToDo;
  const message = "waiting for an external controller to expand this PVC";
  return { actions: [eventAction(referenceTo(resources.persistentVolumeClaims, claim), { type: "Normal", reason: "ExternalExpanding", message })] };
}

function hasGrown(old: DeepReadonly<PersistentVolumeClaim>, now: DeepReadonly<PersistentVolumeClaim>): boolean {
  return compareQuantities(requestOf(now), requestOf(old)) > 0;
}

function requestOf({ spec }: DeepReadonly<PersistentVolumeClaim>): string | number {
  return spec?.resources?.requests?.["storage"] ?? "0";
}
