import { compareResourceVersions } from "../../../client/index.ts";
import { deviceKey } from "./device-pools.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";

/**
 * Resource claims as the cache has them, with allocations that are being written laid over. Driven by the plugin. Invariant: a promised
 * allocation holds until the cache has the claim in a newer state, or it is withdrawn.
 */
export class ClaimWorld {
  readonly objects: ClusterObjects;
  readonly #promised = new Map<string, DeepReadonly<ResourceClaim>>();

  constructor(objects: ClusterObjects) {
    this.objects = objects;
  }

  claim(namespace: string, name: string): DeepReadonly<ResourceClaim> | undefined {
    return this.#current(this.objects.resourceClaims.get(namespace, name));
  }

  /** Devices in use by claims, `deviceKey` each; those of administrators do not count. */
  takenDevices(): ReadonlySet<string> {
    const taken = new Set<string>();
    for (const cached of this.objects.resourceClaims.list())
      for (const result of this.#current(cached)?.status?.allocation?.devices?.results ?? []) if (result.adminAccess !== true) taken.add(deviceKey(result));
    return taken;
  }

  promise(claim: DeepReadonly<ResourceClaim>): void {
    this.#promised.set(keyOf(claim), claim);
  }

  withdraw(claim: DeepReadonly<ResourceClaim>): void {
    this.#promised.delete(keyOf(claim));
  }

  #current(cached: DeepReadonly<ResourceClaim> | undefined): DeepReadonly<ResourceClaim> | undefined {
    const promised = cached && this.#promised.get(keyOf(cached));
    if (cached === undefined || promised === undefined) return cached;
    if (promised.metadata.uid === cached.metadata.uid && compareResourceVersions(cached.metadata.resourceVersion, promised.metadata.resourceVersion) <= 0)
      return promised;
    // What was written last is there, or somebody else was faster.
    if (cached.status?.allocation !== undefined) this.#promised.delete(keyOf(cached));
    return cached.status?.allocation !== undefined ? cached : promised;
  }
}

function keyOf({ metadata }: DeepReadonly<ResourceClaim>): string {
  return `${metadata.namespace}/${metadata.name}`;
}
