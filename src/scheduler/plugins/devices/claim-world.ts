import { compareResourceVersions } from "../../../client/index.ts";
import { usesOf } from "./device-uses.ts";
import type { Clock } from "../../../base/clock.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { DeviceRequestAllocationResult, ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { PodGroups } from "../../state/pod-groups.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";
import type { DeviceUses } from "./device-uses.ts";

/**
 * Resource claims as the cache has them, with allocations that are being written laid over. Driven by the plugin. Invariants: a promised
 * allocation holds until the cache has the claim in a newer state, or it is withdrawn; claims that are being made hold their devices until
 * the cache knows them.
 */
export class ClaimWorld {
  readonly objects: ClusterObjects;
  /** Where groups of pods are served. */
  readonly groups: PodGroups | undefined;
  readonly #clock: Clock;
  readonly #promised = new Map<string, DeepReadonly<ResourceClaim>>();
  /** By the uid of the pod they are for. */
  readonly #coming = new Map<string, ComingClaim>();

  constructor(objects: ClusterObjects, clock: Clock, groups?: PodGroups) {
    this.objects = objects;
    this.groups = groups;
    this.#clock = clock;
  }

  claim(namespace: string, name: string): DeepReadonly<ResourceClaim> | undefined {
    return this.#current(this.objects.resourceClaims.get(namespace, name));
  }

  /** Devices in use by claims. */
  uses(): DeviceUses {
    return usesOf(this.#results());
  }

  promise(claim: DeepReadonly<ResourceClaim>): void {
    this.#promised.set(keyOf(claim), claim);
  }

  /** Whether the claim, as it is here, has not been written yet. */
  isPromised(claim: DeepReadonly<ResourceClaim>): boolean {
    return this.#promised.get(keyOf(claim)) === claim;
  }

  withdraw(claim: DeepReadonly<ResourceClaim>): void {
    this.#promised.delete(keyOf(claim));
  }

  /** A claim is being made for a pod, with these devices. */
  expect(podUid: string, claim: DeepReadonly<ResourceClaim>): void {
    this.#coming.set(podUid, { claim, writtenAtMs: undefined });
  }

  /** It has been written; it is only the cache that does not know it yet. */
  written(podUid: string, claim: DeepReadonly<ResourceClaim>): void {
    this.#coming.set(podUid, { claim, writtenAtMs: this.#clock.nowMs() });
  }

  /** It will not be. */
  abandon(podUid: string): void {
    this.#coming.delete(podUid);
  }

  *#results(): Generator<DeepReadonly<DeviceRequestAllocationResult>> {
    for (const cached of this.objects.resourceClaims.list()) yield* resultsOf(this.#current(cached));
    for (const [podUid, { claim, writtenAtMs }] of this.#coming) {
      const cached = this.objects.resourceClaims.get(claim.metadata.namespace ?? "", claim.metadata.name ?? "");
      // One that the cache never shows was deleted before it could.
      const isOver = writtenAtMs !== undefined && (cached?.status?.allocation !== undefined || this.#clock.nowMs() - writtenAtMs > patienceMs);
      if (isOver) this.#coming.delete(podUid);
      else yield* resultsOf(claim);
    }
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

interface ComingClaim {
  readonly claim: DeepReadonly<ResourceClaim>;
  readonly writtenAtMs: number | undefined;
}

const patienceMs = 30_000;

function resultsOf(claim: DeepReadonly<ResourceClaim> | undefined): readonly DeepReadonly<DeviceRequestAllocationResult>[] {
  return claim?.status?.allocation?.devices?.results ?? [];
}

function keyOf({ metadata }: DeepReadonly<ResourceClaim>): string {
  return `${metadata.namespace}/${metadata.name}`;
}
