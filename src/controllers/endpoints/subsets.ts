import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../api/core-v1/types.ts";

/** One address at one port; `port` is absent where a headless Service has no ports. */
export interface Binding {
  readonly address: EndpointAddress;
  readonly isReady: boolean;
  readonly port: EndpointPort | undefined;
}

/** Bindings as Endpoints tell them: ports that have the very same addresses share a subset; addresses are sorted. */
export function packSubsets(bindings: readonly Binding[]): EndpointSubset[] {
  const byPort = new Map<string, { port: EndpointPort | undefined; addresses: Map<string, Binding> }>();
  for (const binding of bindings) {
    const key = JSON.stringify(binding.port ?? null);
    const entry = byPort.get(key) ?? { port: binding.port, addresses: new Map() };
    byPort.set(key, entry);
    const addressKey = keyOfAddress(binding.address);
    const known = entry.addresses.get(addressKey);
    if (known === undefined || !known.isReady) entry.addresses.set(addressKey, binding);
  }
  const bySet = new Map<string, { ports: EndpointPort[]; addresses: Binding[] }>();
  for (const { port, addresses } of byPort.values()) {
    const sorted = [...addresses.entries()].sort(([left], [right]) => (left < right ? -1 : 1));
    const setKey = JSON.stringify(sorted.map(([key, { isReady }]) => [key, isReady]));
    const set = bySet.get(setKey) ?? { ports: [], addresses: sorted.map(([, binding]) => binding) };
    bySet.set(setKey, set);
    if (port !== undefined) set.ports.push(port);
  }
  const subsets = [...bySet.values()].map(({ ports, addresses }) => subsetOf(ports, addresses));
  return subsets.sort((left, right) => (JSON.stringify(left.ports) < JSON.stringify(right.ports) ? -1 : 1));
}

export function addressCount(subsets: readonly EndpointSubset[], field: "addresses" | "notReadyAddresses"): number {
  return subsets.reduce((count, subset) => count + (subset[field]?.length ?? 0), 0);
}

/** At most `limit` addresses, ready ones first, taken from the subsets in proportion to their sizes. */
export function truncated(subsets: readonly EndpointSubset[], limit: number): EndpointSubset[] {
  const ready = addressCount(subsets, "addresses");
  const readyLimit = Math.min(ready, limit);
  const cut = subsets.map((subset) => ({ ...subset }));
  cutField(cut, "addresses", ready, readyLimit);
  cutField(cut, "notReadyAddresses", addressCount(subsets, "notReadyAddresses"), limit - readyLimit);
  return cut.filter(({ addresses, notReadyAddresses }) => addresses !== undefined || notReadyAddresses !== undefined);
}

function cutField(subsets: EndpointSubset[], field: "addresses" | "notReadyAddresses", total: number, limit: number): void {
  if (total <= limit) return;
  let left = limit;
  for (const [index, subset] of subsets.entries()) {
    const size = subset[field]?.length ?? 0;
    const isLast = subsets.slice(index + 1).every((later) => (later[field]?.length ?? 0) === 0);
    const share = Math.min(size, left, isLast ? left : Math.floor((size * limit) / total));
    left -= share;
    if (share === 0) delete subset[field];
    else subset[field] = subset[field]!.slice(0, share);
  }
}

function subsetOf(ports: EndpointPort[], addresses: readonly Binding[]): EndpointSubset {
  const ready = addresses.filter(({ isReady }) => isReady).map(({ address }) => address);
  const waiting = addresses.filter(({ isReady }) => !isReady).map(({ address }) => address);
  const sortedPorts = ports.sort((left, right) => ((left.name ?? "") < (right.name ?? "") ? -1 : 1));
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(waiting.length > 0 && { notReadyAddresses: waiting }),
    ...(sortedPorts.length > 0 && { ports: sortedPorts }),
  };
}

function keyOfAddress({ ip, targetRef }: EndpointAddress): string {
  return `${ip} ${targetRef?.uid ?? ""}`;
}
