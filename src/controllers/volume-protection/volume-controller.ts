import { resources } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { planProtection } from "./plan.ts";
import type { PersistentVolume } from "../../api/core-v1/types.ts";
import type { Controller } from "../../operator/index.ts";
import type { ProtectionSnapshot } from "./plan.ts";

/** Holds volumes that are bound to claims. Keys are volumes. */
export function volumeProtectionController(): Controller {
  return defineController<ProtectionSnapshot<PersistentVolume>>({
    name: "persistentvolume-protection-controller",
    account: "pv-protection-controller",
    workers: 1,
    watches: [watch(resources.persistentVolumes, { keys: ownKey })],
    snapshot(name, caches) {
      const object = caches.of(resources.persistentVolumes).get("", name);
      if (object === undefined) return undefined;
      return { resource: resources.persistentVolumes, object, finalizer: "kubernetes.io/pv-protection", isInUse: () => object.status?.phase === "Bound" };
    },
    plan: planProtection,
  });
}
