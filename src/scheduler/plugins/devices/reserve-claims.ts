import { isAbort } from "../../../base/task-group.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import { failed } from "../../framework/refusal.ts";
import { compareResourceVersions, edited, resources } from "../../../client/index.ts";
import { allocationResult } from "./allocation-result.ts";
import { untilReady } from "./binding-conditions.ts";
import { claimFinalizer, discard, reservedFor, withdrawReservation, writeReservation } from "./claim-writes.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { AllocationResult, DeviceClass, ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { Client } from "../../../client/index.ts";
import type { Reservation } from "../../framework/plugin.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClaimAllocation } from "./allocate.ts";
import type { ClaimWorld } from "./claim-world.ts";
import type { ClaimUse } from "./pod-claims.ts";
import type { ExtendedClaim } from "./extended-resources.ts";

/** Promises the chosen devices to the pod's claims, and writes allocation and reservation down before the pod is bound. */
export function reserveClaims(pod: PodInfo, plan: ClaimPlan, services: ClaimServices): Reservation | undefined {
  const { client, clock, random, world, classOf } = services;
  const context = { classOf, random, timeText: formatTime(clock.nowMs()) };
  const allocationOf = (claim: DeepReadonly<ResourceClaim>) => {
    const found = plan.allocations.find((one) => one.claim === claim);
    return found && allocationResult(found, context);
  };
  const own = { resource: "pods", name: pod.name, uid: pod.uid };
  // What another pod is about to write this one writes, too: whoever comes first, none is bound before.
  const pending = (claim: DeepReadonly<ResourceClaim>) => (world.isPromised(claim) ? (claim.status?.allocation as AllocationResult | undefined) : undefined);
  const promised: Promised[] = plan.uses
    .map((use) => ({ ...use, allocation: allocationOf(use.claim) ?? pending(use.claim) }))
    .filter(({ claim, user, allocation }) => allocation !== undefined || claim.status?.reservedFor?.some(({ uid }) => uid === user.uid) !== true);
  const extended = plan.extended && { ...plan.extended, allocation: allocationOf(plan.extended.claim) };
  const claims = plan.uses.map(({ claim }) => claim);
  const isWaiting = claims.some(({ status }) => status?.allocation?.devices?.results?.some(({ bindingConditions = [] }) => bindingConditions.length > 0));
  if (promised.length === 0 && extended === undefined && !isWaiting) return undefined;
  for (const { claim, user, allocation } of promised) world.promise(reservedFor(user, claim, allocation));
  if (extended !== undefined) world.expect(pod.uid, reservedFor(own, extended.claim, extended.allocation));
  const written: DeepReadonly<ResourceClaim>[] = [];
  let made: DeepReadonly<ResourceClaim> | undefined;
  return {
    unreserve() {
      for (const { claim } of promised) world.withdraw(claim);
      world.abandon(pod.uid);
    },
    async revert(signal) {
      for (const claim of written) await withdrawReservation(client, claim, pod, signal);
      if (made !== undefined) await discard(client, made, signal);
    },
    preBind: (signal) =>
      explained(signal, async () => {
        for (const { claim, user, allocation } of promised) written.push(await writeReservation(client, { user, claim, allocation }, signal));
        if (extended !== undefined) {
          made = await client.create(resources.resourceClaims, guardedNew(extended.claim), { signal });
          const claim = await writeReservation(client, { user: own, claim: made, allocation: extended.allocation }, signal);
          world.written(pod.uid, claim);
          await noteOnPod(client, pod, claim, extended, signal);
        }
        return await ready(pod, [...claims, ...written, ...(made === undefined ? [] : [made])], services, signal);
      }),
  };
}

export interface ClaimPlan {
  readonly uses: readonly ClaimUse[];
  /** The claim to be made for extended resources. */
  readonly extended: ExtendedClaim | undefined;
  /** For the claims that have no devices yet. */
  readonly allocations: readonly ClaimAllocation[];
}

export interface ClaimServices {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly world: ClaimWorld;
  readonly classOf: (name: string) => DeepReadonly<DeviceClass> | undefined;
  readonly bindingTimeoutMs: number;
  /** The pod waits for its devices. */
  readonly onWaiting: () => void;
}

interface Promised extends ClaimUse {
  readonly allocation: AllocationResult | undefined;
}

async function explained(signal: AbortSignal, write: () => Promise<string | undefined>): Promise<Refusal | undefined> {
  try {
    const problem = await write();
    return problem === undefined ? undefined : refusalOf(problem);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    return refusalOf(error instanceof Error ? error.message : String(error));
  }
}

function refusalOf(problem: string): Refusal {
  return failed(`running PreBind plugin "DynamicResources": ${problem}`);
}

/** Waits for devices that have to be made ready first. */
function ready(pod: PodInfo, claims: readonly DeepReadonly<ResourceClaim>[], services: ClaimServices, signal: AbortSignal): Promise<string | undefined> {
  const { world, clock, bindingTimeoutMs, onWaiting } = services;
  // By name: the last state that is known, of which what was written just now is the newest at first.
  const known = new Map(claims.map((claim) => [claim.metadata.name ?? "", claim]));
  const look = () => Array.from(known, ([name, claim]) => newer(claim, world.claim(pod.namespace, name)));
  return untilReady(look, { clock, timeoutMs: bindingTimeoutMs, onWaiting }, signal);
}

function newer(written: DeepReadonly<ResourceClaim>, cached: DeepReadonly<ResourceClaim> | undefined): DeepReadonly<ResourceClaim> {
  return cached !== undefined && compareResourceVersions(cached.metadata.resourceVersion, written.metadata.resourceVersion) > 0 ? cached : written;
}

function guardedNew(claim: DeepReadonly<ResourceClaim>): DeepReadonly<ResourceClaim> {
  return edited<ResourceClaim>(claim, (draft) => {
    delete draft.metadata.name;
    draft.metadata.finalizers = [claimFinalizer];
  });
}

async function noteOnPod(client: Client, pod: PodInfo, claim: DeepReadonly<ResourceClaim>, { mappings }: ExtendedClaim, signal: AbortSignal): Promise<void> {
  const extendedResourceClaimStatus = { resourceClaimName: claim.metadata.name ?? "", requestMappings: mappings.map((one) => ({ ...one })) };
  const body = { metadata: { uid: pod.uid }, status: { extendedResourceClaimStatus } };
  await client.patch(resources.pods, pod.namespace, pod.name, { type: "strategic", body, subresource: "status", signal });
}
