import { newUid } from "../../../base/ids.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import type { Random } from "../../../base/random.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { NodeSelectorTerm } from "../../../api/core-v1/types.ts";
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceClass,
  DeviceClassConfiguration,
  DeviceRequestAllocationResult,
} from "../../../api/resource-v1/types.ts";
import type { ClaimAllocation, Pick } from "./allocate.ts";

/** What a claim's status says of the devices that were chosen for it. */
export function allocationResult({ claim, picks }: ClaimAllocation, { classOf, timeText, random }: AllocationContext): AllocationResult {
  const results = picks.map((pick) => deviceResult(pick, random));
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
    allocationTimestamp: timeText,
  };
}

export interface AllocationContext {
  readonly classOf: (name: string) => DeepReadonly<DeviceClass> | undefined;
  /** Now, as the API writes it. */
  readonly timeText: string;
  readonly random: Random;
}

function configOf(source: string, { opaque }: DeepReadonly<DeviceClassConfiguration>): DeviceAllocationConfiguration {
  return { source, ...(opaque !== undefined && { opaque: deepCopy(opaque) as NonNullable<DeviceAllocationConfiguration["opaque"]> }) };
}

function deviceResult({ request, found, isAdmin, tolerations, consumed }: Pick, random: Random): DeviceRequestAllocationResult {
  const { bindingConditions = [], bindingFailureConditions = [] } = found.device;
  return {
    request,
    driver: found.driver,
    pool: found.pool,
    device: found.device.name,
    ...(isAdmin && { adminAccess: true }),
    ...(tolerations.length > 0 && { tolerations: tolerations.map((one) => ({ ...one })) }),
    ...(bindingConditions.length > 0 && { bindingConditions: [...bindingConditions] }),
    ...(bindingFailureConditions.length > 0 && { bindingFailureConditions: [...bindingFailureConditions] }),
    ...(consumed !== undefined && {
      shareID: newUid(random),
      consumedCapacity: Object.fromEntries(Array.from(consumed, ([name, { text }]) => [name, text])),
    }),
  };
}
