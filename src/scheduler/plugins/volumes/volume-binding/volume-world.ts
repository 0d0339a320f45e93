import { compareResourceVersions } from "../../../../client/index.ts";
import type { DeepReadonly } from "../../../../apimachinery/json.ts";
import type { KubeObject } from "../../../../apimachinery/object.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../api/core-v1/types.ts";
import type { StorageClass } from "../../../../api/storage-v1/types.ts";
import type { ClusterObjects } from "../../../state/snapshot.ts";

export type Volume = DeepReadonly<PersistentVolume>;
export type Claim = DeepReadonly<PersistentVolumeClaim>;

/**
 * Volumes and claims as the caches have them, with what this scheduler has promised laid over until the API confirms it. Driven by the
 * volume binding plugin. Invariant: a promise holds as long as the cached object is the one it was made on.
 */
export class VolumeWorld {
  readonly objects: ClusterObjects;
  readonly #volumes = new Map<string, Promised<PersistentVolume>>();
  readonly #claims = new Map<string, Promised<PersistentVolumeClaim>>();

  constructor(objects: ClusterObjects) {
    this.objects = objects;
  }

  volume(name: string): Volume | undefined {
    return current(this.#volumes, name, this.objects.persistentVolumes.get("", name));
  }

  claim(namespace: string, name: string): Claim | undefined {
    return current(this.#claims, `${namespace}/${name}`, this.objects.persistentVolumeClaims.get(namespace, name));
  }

  volumes(): readonly Volume[] {
    const volumes = this.objects.persistentVolumes.list();
    return this.#volumes.size === 0 ? volumes : volumes.map((one) => current(this.#volumes, one.metadata.name ?? "", one)!);
  }

  storageClass(name: string): DeepReadonly<StorageClass> | undefined {
    return name === "" ? undefined : this.objects.storageClasses.get("", name);
  }

  promiseVolume(volume: Volume): void {
    this.#volumes.set(volume.metadata.name ?? "", { object: volume, base: volume.metadata.resourceVersion });
  }

  promiseClaim(claim: Claim): void {
    this.#claims.set(`${claim.metadata.namespace}/${claim.metadata.name}`, { object: claim, base: claim.metadata.resourceVersion });
  }

  withdrawVolume(name: string): void {
    this.#volumes.delete(name);
  }

  withdrawClaim(namespace: string, name: string): void {
    this.#claims.delete(`${namespace}/${name}`);
  }
}

interface Promised<T extends KubeObject> {
  readonly object: DeepReadonly<T>;
  readonly base: string | undefined;
}

function current<T extends KubeObject>(promises: Map<string, Promised<T>>, key: string, cached: DeepReadonly<T> | undefined): DeepReadonly<T> | undefined {
  const promised = promises.get(key);
  if (promised === undefined) return cached;
  if (cached !== undefined && compareResourceVersions(cached.metadata.resourceVersion, promised.base) <= 0) return promised.object;
  promises.delete(key);
  return cached;
}
