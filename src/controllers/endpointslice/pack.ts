import { deepEqual } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Endpoint, EndpointSlice } from "../../api/discovery-v1/types.ts";

/**
 * Spreads endpoints over slices of at most `limit`, changing as few slices as it can: endpoints stay where they are, slices that change
 * anyway are filled first, then one slice with room for the whole rest, and new ones are made last.
 */
export function packEndpoints(desired: readonly Endpoint[], existing: readonly DeepReadonly<EndpointSlice>[], limit: number): Packing {
  const wanted = new Map(desired.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const slots = existing.map((slice) => keepWanted(slice, wanted));
  const rest = [...wanted.values()];
  for (const slot of slots.filter(({ isChanged, endpoints }) => isChanged && endpoints.length > 0))
    slot.endpoints.push(...rest.splice(0, Math.max(0, limit - slot.endpoints.length)));
  for (const slot of slots.filter(({ isChanged, endpoints }) => isChanged && endpoints.length === 0)) slot.endpoints.push(...rest.splice(0, limit));
  if (rest.length > 0 && rest.length < limit) {
    const roomy = slots.filter(({ isChanged, endpoints }) => !isChanged && endpoints.length + rest.length <= limit);
    const fullest = roomy.sort((left, right) => right.endpoints.length - left.endpoints.length)[0];
    if (fullest !== undefined) {
      fullest.endpoints.push(...rest.splice(0));
      fullest.isChanged = true;
    }
  }
  const fresh: Endpoint[][] = [];
  while (rest.length > 0) fresh.push(rest.splice(0, limit));
  return { kept: slots, fresh };
}

export interface Packing {
  /** What every slice that is there holds now; one without endpoints is not needed. */
  readonly kept: readonly Slot[];
  readonly fresh: readonly (readonly Endpoint[])[];
}
export interface Slot {
  readonly slice: DeepReadonly<EndpointSlice>;
  readonly endpoints: Endpoint[];
  isChanged: boolean;
}

/** The slice's endpoints that are still wanted, as they are now; they are taken out of `wanted`. */
function keepWanted(slice: DeepReadonly<EndpointSlice>, wanted: Map<string, Endpoint>): Slot {
  const endpoints: Endpoint[] = [];
  let isChanged = false;
  for (const endpoint of slice.endpoints ?? []) {
    const key = endpointKey(endpoint);
    const now = wanted.get(key);
    if (now === undefined) {
      isChanged = true;
      continue;
    }
    wanted.delete(key);
    endpoints.push(now);
    if (!deepEqual(now, endpoint)) isChanged = true;
  }
  return { slice, endpoints, isChanged };
}

function endpointKey({ addresses, hostname = "", targetRef }: DeepReadonly<Endpoint>): string {
  return JSON.stringify([[...(addresses ?? [])].sort(), hostname, targetRef?.namespace, targetRef?.name, targetRef?.uid]);
}
