import { resources } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { planProtection } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/core-v1/types.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";

/** Holds volume attributes classes that claims or volumes name (KEP-3751). Keys are classes. */
export function attributesClassProtectionController(): Controller {
  return defineController({
    name: "volumeattributesclass-protection-controller",
    account: "volumeattributesclass-protection-controller",
    workers: 1,
    watches: [
      watch(resources.volumeAttributesClasses, { keys: ownKey }),
      watch(resources.persistentVolumeClaims, { keys: classesOfClaim, indexes: { class: classesOfClaim } }),
      watch(resources.persistentVolumes, { keys: classesOfVolume, indexes: { class: classesOfVolume } }),
    ],
    async reconcile(name, context) {
      const { caches } = context;
      const object = caches.of(resources.volumeAttributesClasses).get("", name);
      if (object === undefined) return;
      const isUsed = [resources.persistentVolumeClaims, resources.persistentVolumes].some(
        (type) => caches.of(type as ResourceType).byIndex("class", name).length > 0,
      );
      const isInUse = isUsed || (object.metadata.deletionTimestamp !== undefined && (await isUsedNow(name, context)));
      await context.carryOut(
        name,
        planProtection({ resource: resources.volumeAttributesClasses, object, finalizer: "kubernetes.io/vac-protection", isInUse: () => isInUse }),
      );
    },
  });
}

/** Past the caches: a claim that came this moment must not lose its class. */
async function isUsedNow(name: string, { client, signal }: ControllerContext): Promise<boolean> {
  const claims = await client.list(resources.persistentVolumeClaims, "", { signal });
  if (claims.items.some((claim) => classesOfClaim(claim as DeepReadonly<PersistentVolumeClaim>).includes(name))) return true;
  const volumes = await client.list(resources.persistentVolumes, "", { signal });
  return volumes.items.some((volume) => classesOfVolume(volume as DeepReadonly<PersistentVolume>).includes(name));
}

/** The class that a claim asks for, the one it has, and the one that its volume is being changed to. */
export function classesOfClaim({ spec, status }: DeepReadonly<PersistentVolumeClaim>): string[] {
  const names = [spec?.volumeAttributesClassName, status?.currentVolumeAttributesClassName, status?.modifyVolumeStatus?.targetVolumeAttributesClassName];
  return [...new Set(names.filter((name) => name !== undefined && name !== ""))] as string[];
}

function classesOfVolume({ spec }: DeepReadonly<PersistentVolume>): string[] {
  const name = spec?.volumeAttributesClassName ?? "";
  return name === "" ? [] : [name];
}
