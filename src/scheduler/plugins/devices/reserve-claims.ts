import { isAbort } from "../../../base/task-group.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import { failed } from "../../framework/refusal.ts";
import { edited, resources } from "../../../client/index.ts";
import type { Clock } from "../../../base/clock.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { NodeSelectorTerm } from "../../../api/core-v1/types.ts";
import type { AllocationResult, DeviceAllocationConfiguration, DeviceClass, DeviceClassConfiguration, ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { Client } from "../../../client/index.ts";
import type { Reservation } from "../../framework/plugin.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClaimAllocation } from "./allocate.ts";
import type { ClaimWorld } from "./claim-world.ts";

/** Promises the chosen devices to the pod's claims, and writes allocation and reservation down before the pod is bound. */
export function reserveClaims(pod: PodInfo, plan: ClaimPlan, services: ClaimServices): Reservation | undefined {
  const isReserved = ({ status }: DeepReadonly<ResourceClaim>) => status?.reservedFor?.some(({ uid }) => uid === pod.uid) === true;
  const { client, clock, world } = services;
  const timeText = formatTime(clock.nowMs());
  const promised = plan.claims.flatMap((claim) => {
    const found = plan.allocations.find((one) => one.claim === claim);
    if (found === undefined && isReserved(claim)) return [];
    return [{ claim, wanted: reservedFor(pod, claim, found && resultOf(found, services.classOf, timeText)) }];
  });
  if (promised.length === 0) return undefined;
  for (const { wanted } of promised) world.promise(wanted);
  return {
    unreserve() {
      for (const { wanted } of promised) world.withdraw(wanted);
    },
    async preBind(signal) {
      try {
        for (const { wanted } of promised) await write(client, wanted, signal);
        return undefined;
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        return failed(`running PreBind plugin "DynamicResources": ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}

export interface ClaimPlan {
  readonly claims: readonly DeepReadonly<ResourceClaim>[];
  /** For the claims that have no devices yet. */
  readonly allocations: readonly ClaimAllocation[];
}

export interface ClaimServices {
  readonly client: Client;
  readonly clock: Clock;
  readonly world: ClaimWorld;
  readonly classOf: (name: string) => DeepReadonly<DeviceClass> | undefined;
}

/** Takes the devices back from a claim that nobody uses. */
export async function deallocate(client: Client, claim: DeepReadonly<ResourceClaim>, signal: AbortSignal): Promise<void> {
  const freed = edited<ResourceClaim>(claim, (draft) => {
    delete draft.status?.allocation;
    delete draft.status?.reservedFor;
  });
  await client.updateStatus(resources.resourceClaims, freed, { signal });
}

const finalizer = "resource.kubernetes.io/delete-protection";

/** An allocated claim must not vanish before its devices are free: the finalizer comes first. */
async function write(client: Client, wanted: DeepReadonly<ResourceClaim>, signal: AbortSignal): Promise<void> {
  let { resourceVersion } = wanted.metadata;
  if (wanted.metadata.finalizers?.includes(finalizer) !== true) {
    const guarded = edited<ResourceClaim>(wanted, (draft) => {
      draft.metadata.finalizers = [...(draft.metadata.finalizers ?? []), finalizer];
    });
    ({ resourceVersion } = (await client.update(resources.resourceClaims, guarded, { signal })).metadata);
  }
  const current = edited<ResourceClaim>(wanted, (draft) => {
    if (resourceVersion !== undefined) draft.metadata.resourceVersion = resourceVersion;
    draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), finalizer])];
  });
  await client.updateStatus(resources.resourceClaims, current, { signal });
}

function reservedFor(pod: PodInfo, claim: DeepReadonly<ResourceClaim>, allocation: AllocationResult | undefined): DeepReadonly<ResourceClaim> {
  return edited<ResourceClaim>(claim, (draft) => {
    const status = (draft.status ??= {});
    if (allocation !== undefined) status.allocation = allocation;
    status.reservedFor = [...(status.reservedFor ?? []).filter(({ uid }) => uid !== pod.uid), { resource: "pods", name: pod.name, uid: pod.uid }];
  });
}

function resultOf({ claim, picks }: ClaimAllocation, classOf: ClaimServices["classOf"], allocationTimestamp: string): AllocationResult {
  const results = picks.map(({ request, found, isAdmin, tolerations }) => ({
    request,
    driver: found.driver,
    pool: found.pool,
    device: found.device.name,
    ...(isAdmin && { adminAccess: true }),
    ...(tolerations.length > 0 && { tolerations: tolerations.map((one) => ({ ...one })) }),
  }));
  const classes = new Set(picks.map(({ className }) => className));
  const fromClass = [...classes].flatMap((name) => (classOf(name)?.spec?.config ?? []).map((one) => configOf("FromClass", one)));
  const chosen = new Set(picks.flatMap(({ request }) => [request, request.split("/")[0]!]));
  const fromClaim = (claim.spec?.devices?.config ?? [])
    .filter(({ requests = [] }) => requests.length === 0 || requests.some((name) => chosen.has(name)))
    .map((one) => configOf("FromClaim", one));
  const config = [...fromClass, ...fromClaim];
  const terms = new Map(picks.flatMap(({ found }) => found.reach?.nodeSelectorTerms ?? []).map((term) => [JSON.stringify(term), term]));
  return {
    devices: { results, ...(config.length > 0 && { config }) },
    ...(terms.size > 0 && { nodeSelector: { nodeSelectorTerms: [...terms.values()].map((term) => deepCopy(term) as NodeSelectorTerm) } }),
    allocationTimestamp,
  };
}

function configOf(source: string, { opaque }: DeepReadonly<DeviceClassConfiguration>): DeviceAllocationConfiguration {
  return { source, ...(opaque !== undefined && { opaque: deepCopy(opaque) as NonNullable<DeviceAllocationConfiguration["opaque"]> }) };
}
