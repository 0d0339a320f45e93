import { keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { claimsOfPod } from "../volume-protection/plan.ts";
import { classNameOf } from "./match.ts";
import { defaultClassOf, planClaim } from "./plan.ts";
import { recyclerName, recyclerNamespace } from "./recycler-pod.ts";
import { planVolume } from "./volume-plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { StorageClass } from "../../api/storage-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { ClaimSnapshot } from "./plan.ts";
import type { VolumeSnapshot } from "./volume-plan.ts";

/** Binds claims and volumes. Keys are claims and volumes; one at a time, so that a volume is not promised twice. */
export function volumeBinderController(): Controller {
  return defineController<ClaimSnapshot | VolumeSnapshot>({
    name: "persistentvolume-binder-controller",
    account: "persistent-volume-binder",
    eventSource: "persistentvolume-controller",
    workers: 1,
    watches: [
      watch(resources.persistentVolumes, { keys: keysOfVolume, indexes: { claim: claimOfVolume, class: classOfVolume } }),
      watch(resources.persistentVolumeClaims, { keys: keysOfClaim, indexes: { class: (claim) => [classNameOf(claim)] } }),
      watch(resources.storageClasses, { keys: keysOfClass }),
      watch(resources.pods, { keys: keysOfPod, isRelevant: isRecyclerChange, indexes: { claim: claimsOfPod } }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      return namespace === "" ? volumeSnapshot(name, caches) : claimSnapshot(namespace, name, caches);
    },
    plan: (snapshot) => ("volume" in snapshot ? planVolume(snapshot) : planClaim(snapshot)),
  });
}

function volumeSnapshot(name: string, caches: Caches): VolumeSnapshot | undefined {
  const volume = caches.of(resources.persistentVolumes).get("", name);
  if (volume === undefined) return undefined;
  const { namespace = "", name: claimName = "" } = volume.spec?.claimRef ?? {};
  return {
    volume,
    claim: caches.of(resources.persistentVolumeClaims).get(namespace, claimName),
    recycler: caches.of(resources.pods).get(recyclerNamespace, recyclerName(name)),
  };
}

function claimSnapshot(namespace: string, name: string, caches: Caches): ClaimSnapshot | undefined {
  const claim = caches.of(resources.persistentVolumeClaims).get(namespace, name);
  if (claim === undefined) return undefined;
  const volumes = caches.of(resources.persistentVolumes);
  const classes = caches.of(resources.storageClasses);
  return {
    claim,
    named: volumes.get("", claim.spec?.volumeName ?? ""),
    volumes: volumes.byIndex("class", classNameOf(claim)),
    storageClass: classes.get("", classNameOf(claim)),
    defaultClass: defaultClassOf(classes.list()),
    waitingPods: caches
      .of(resources.pods)
      .byIndex("claim", keyOf(claim))
      .filter(({ spec }) => (spec?.nodeName ?? "") === "")
      .map(({ metadata }) => metadata.name ?? ""),
  };
}

/** A volume concerns itself, its claim, and the claims that may want it. */
function keysOfVolume(volume: DeepReadonly<PersistentVolume>, caches: Caches): string[] {
  const claims = caches.of(resources.persistentVolumeClaims);
  const waiting = classOfVolume(volume)
    .flatMap((name) => claims.byIndex("class", name))
    .filter(({ status, spec }) => status?.phase !== "Bound" || spec?.volumeName === volume.metadata.name);
  return [...ownKey(volume), ...claimOfVolume(volume), ...waiting.map(keyOf)];
}

function keysOfClaim(claim: DeepReadonly<PersistentVolumeClaim>, caches: Caches): string[] {
  const holding = caches.of(resources.persistentVolumes).byIndex("claim", keyOf(claim));
  const named = claim.spec?.volumeName ?? "";
  return [keyOf(claim), ...(named === "" ? [] : [named]), ...holding.map(keyOf)];
}

/** Claims of a class, and those without one: it may be their default. */
function keysOfClass({ metadata }: DeepReadonly<StorageClass>, caches: Caches): string[] {
  const claims = caches.of(resources.persistentVolumeClaims);
  return ["", metadata.name ?? ""]
    .flatMap((name) => claims.byIndex("class", name))
    .filter(({ status }) => status?.phase !== "Bound")
    .map(keyOf);
}

function isRecyclerChange({ object }: { readonly object: DeepReadonly<Pod> }): boolean {
  return keysOfPod(object).length > 0;
}

function keysOfPod({ metadata }: DeepReadonly<Pod>): string[] {
  const prefix = recyclerName("");
  const name = metadata.name ?? "";
  return metadata.namespace === recyclerNamespace && name.startsWith(prefix) ? [name.slice(prefix.length)] : [];
}

function claimOfVolume({ spec }: DeepReadonly<PersistentVolume>): string[] {
  return spec?.claimRef === undefined ? [] : [`${spec.claimRef.namespace}/${spec.claimRef.name}`];
}

function classOfVolume({ spec }: DeepReadonly<PersistentVolume>): string[] {
  return [spec?.storageClassName ?? ""];
}
