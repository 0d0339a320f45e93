import { keyOf, resources } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { onNode } from "../pods/node-index.ts";
import { claimsOfPod } from "../volume-protection/plan.ts";
import { planAttachments } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { VolumeAttachment } from "../../api/storage-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { NodeSnapshot, WantedVolume } from "./plan.ts";

/** Attaches CSI volumes to the nodes of the pods that use them. Keys are nodes. */
export function attachDetachController(): Controller {
  return defineController<NodeSnapshot>({
    name: "persistentvolume-attach-detach-controller",
    account: "attachdetach-controller",
    watches: [
      watch(resources.nodes, { keys: ownKey }),
      watch(resources.pods, {
        keys: nodeOfPod,
        isRelevant: ({ object, kind }) => kind !== "delete" && claimsOfPod(object).length > 0,
        indexes: { ...onNode, claim: claimsOfPod },
      }),
      watch(resources.pods, { keys: nodeOfPod, isRelevant: ({ object, kind }) => kind === "delete" && claimsOfPod(object).length > 0, delayMs: detachPauseMs }),
      watch(resources.persistentVolumeClaims, { keys: nodesOfClaim }),
      watch(resources.persistentVolumes),
      watch(resources.volumeAttachments, {
        keys: ({ spec }) => [spec.nodeName],
        indexes: { node: ({ spec }: DeepReadonly<VolumeAttachment>) => [spec.nodeName] },
      }),
      watch(resources.csiDrivers),
      watch(resources.csiNodes, { keys: ownKey }),
    ],
    snapshot(name, caches) {
      const node = caches.of(resources.nodes).get("", name);
      // Some kubelets attach for themselves.
      if (node?.metadata.annotations?.["volumes.kubernetes.io/controller-managed-attach-detach"] !== "true") return undefined;
      return {
        node,
        wanted: wantedOn(name, caches),
        attachments: caches.of(resources.volumeAttachments).byIndex("node", name),
        volumes: (volume) => caches.of(resources.persistentVolumes).get("", volume),
      };
    },
    plan: planAttachments,
  });
}

/** A pod that is made anew on the same node finds its volumes still there; a driver that just failed is left in peace. */
const detachPauseMs = 500;

function wantedOn(nodeName: string, caches: Caches): WantedVolume[] {
  const users = new Map<DeepReadonly<PersistentVolume>, DeepReadonly<Pod>[]>();
  const drivers = caches.of(resources.csiNodes).get("", nodeName)?.spec.drivers ?? [];
  for (const pod of caches.of(resources.pods).byIndex("node", nodeName)) {
    if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    for (const volume of volumesOfPod(pod, caches)) {
      const driver = volume.spec?.csi?.driver;
      // A driver that is not on the node (yet) cannot attach; one that says so need not.
      if (driver === undefined || !drivers.some(({ name }) => name === driver)) continue;
      if (caches.of(resources.csiDrivers).get("", driver)?.spec.attachRequired === false) continue;
      users.set(volume, [...(users.get(volume) ?? []), pod]);
    }
  }
  return Array.from(users, ([volume, pods]) => ({ volume, pods }));
}

function volumesOfPod(pod: DeepReadonly<Pod>, caches: Caches): DeepReadonly<PersistentVolume>[] {
  return claimsOfPod(pod).flatMap((key) => {
    const [namespace = "", name = ""] = key.split("/");
    const claim = caches.of(resources.persistentVolumeClaims).get(namespace, name);
    if (claim?.status?.phase !== "Bound") return [];
    return caches.of(resources.persistentVolumes).get("", claim.spec?.volumeName ?? "") ?? [];
  });
}

function nodeOfPod({ spec }: DeepReadonly<Pod>): string[] {
  return (spec?.nodeName ?? "") === "" ? [] : [spec?.nodeName ?? ""];
}

function nodesOfClaim(claim: DeepReadonly<PersistentVolumeClaim>, caches: Caches): string[] {
  return caches.of(resources.pods).byIndex("claim", keyOf(claim)).flatMap(nodeOfPod);
}
