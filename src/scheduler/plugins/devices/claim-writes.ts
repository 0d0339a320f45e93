import { isConflict, isNotFound } from "../../../apimachinery/status.ts";
import { deepEqual } from "../../../apimachinery/json.ts";
import { edited, resources } from "../../../client/index.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { AllocationResult, ResourceClaim, ResourceClaimConsumerReference } from "../../../api/resource-v1/types.ts";
import type { Client } from "../../../client/index.ts";
import type { PodInfo } from "../../state/pod-info.ts";

/** An allocated claim must not vanish before its devices are free. */
export const claimFinalizer = "resource.kubernetes.io/delete-protection";

/** The claim as it is once the user has it, with the devices that were found for it if it had none. */
export function reservedFor(
  user: DeepReadonly<ResourceClaimConsumerReference>,
  claim: DeepReadonly<ResourceClaim>,
  allocation: AllocationResult | undefined,
): DeepReadonly<ResourceClaim> {
  return edited<ResourceClaim>(claim, (draft) => {
    const status = (draft.status ??= {});
    if (allocation !== undefined) status.allocation = allocation;
    status.reservedFor = [...(status.reservedFor ?? []).filter(({ uid }) => uid !== user.uid), { ...user }];
  });
}

/**
 * Writes the reservation down, the finalizer first, and answers the claim as it is then. Others write claims too: after a conflict it starts
 * again from their state. Throws when the claim is gone, or was given other devices in the meantime.
 */
export async function writeReservation(client: Client, reservation: ClaimReservation, signal: AbortSignal): Promise<DeepReadonly<ResourceClaim>> {
  const { user, allocation } = reservation;
  let { claim } = reservation;
  for (let attempt = 1; ; attempt++) {
    try {
      const guarded = await guard(client, claim, signal);
      return await client.updateStatus(resources.resourceClaims, reservedFor(user, guarded, allocation), { signal });
    } catch (error) {
      if (!isConflict(error) || attempt === mostAttempts) throw error;
    }
    claim = await newest(client, reservation, signal);
  }
}

export interface ClaimReservation {
  readonly user: DeepReadonly<ResourceClaimConsumerReference>;
  readonly claim: DeepReadonly<ResourceClaim>;
  /** Undefined when the claim has its devices already. */
  readonly allocation: AllocationResult | undefined;
}

const mostAttempts = 5;

/** Takes the pod out of the claim's users; its devices stay. */
export async function withdrawReservation(client: Client, claim: DeepReadonly<ResourceClaim>, pod: PodInfo, signal: AbortSignal): Promise<void> {
  const body = { metadata: { uid: claim.metadata.uid ?? "" }, status: { reservedFor: [{ $patch: "delete", uid: pod.uid }] } };
  const { namespace = "", name = "" } = claim.metadata;
  try {
    await client.patch(resources.resourceClaims, namespace, name, { type: "strategic", body, subresource: "status", signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Takes the devices back from a claim that nobody uses. */
export async function deallocate(client: Client, claim: DeepReadonly<ResourceClaim>, signal: AbortSignal): Promise<DeepReadonly<ResourceClaim>> {
  const freed = edited<ResourceClaim>(claim, (draft) => {
    delete draft.status?.allocation;
    delete draft.status?.reservedFor;
    delete draft.status?.devices;
  });
  return client.updateStatus(resources.resourceClaims, freed, { signal });
}

/** Deletes a claim that was made in vain. */
export async function discard(client: Client, claim: DeepReadonly<ResourceClaim>, signal: AbortSignal): Promise<void> {
  const { namespace = "", name = "", uid = "" } = claim.metadata;
  try {
    const freed = await deallocate(client, await client.get(resources.resourceClaims, namespace, name, { signal }), signal);
    const released = edited<ResourceClaim>(freed, (draft) => {
      draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((one) => one !== claimFinalizer);
    });
    await client.update(resources.resourceClaims, released, { signal });
    await client.delete(resources.resourceClaims, namespace, name, { preconditions: { uid }, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function guard(client: Client, claim: DeepReadonly<ResourceClaim>, signal: AbortSignal): Promise<DeepReadonly<ResourceClaim>> {
  if (claim.metadata.finalizers?.includes(claimFinalizer) === true) return claim;
  const guarded = edited<ResourceClaim>(claim, (draft) => {
    draft.metadata.finalizers = [...(draft.metadata.finalizers ?? []), claimFinalizer];
  });
  return client.update(resources.resourceClaims, guarded, { signal });
}

async function newest(client: Client, { claim, allocation }: ClaimReservation, signal: AbortSignal): Promise<DeepReadonly<ResourceClaim>> {
  const { namespace = "", name = "", uid } = claim.metadata;
  const current = await client.get(resources.resourceClaims, namespace, name, { signal });
  if (current.metadata.uid !== uid || current.metadata.deletionTimestamp !== undefined) throw new Error(`claim ${name} got deleted in the meantime`);
  const given = current.status?.allocation;
  if (allocation !== undefined && given !== undefined && !deepEqual(given, allocation))
    throw new Error(`claim ${name} got allocated elsewhere in the meantime`);
  if (allocation === undefined && given === undefined) throw new Error(`claim ${name} got deallocated elsewhere in the meantime`);
  return current;
}
