/** Which endpoints of a Service's slices a node's proxy leads to, for one port and address family. */
import { ipText, parseIp } from "../apimachinery/net.ts";
import type { IpFamily } from "../apimachinery/net.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { ServicePort } from "../api/core-v1/types.ts";
import type { Endpoint, EndpointSlice } from "../api/discovery-v1/types.ts";

/**
 * Backends for the policies Cluster and Local. Endpoints that are ready count; when a policy finds none, those that serve while they
 * terminate do (KEP-1669). Hints narrow the policy Cluster when every ready endpoint has them and one is for this node or zone.
 */
export function backendsOf(
  slices: readonly DeepReadonly<EndpointSlice>[],
  port: DeepReadonly<ServicePort>,
  family: IpFamily,
  node: { readonly nodeName: string; readonly zone?: string },
): BackendChoice {
  const candidates = candidatesOf(slices, port, family, node.nodeName);
  const ready = candidates.filter(({ isReady }) => isReady);
  const local = withFallback(candidates.filter(({ backend }) => backend.isLocal));
  const cluster = ready.length > 0 ? nearest(ready, node) : withFallback(candidates);
  return {
    cluster: cluster.map(({ backend }) => backend),
    local: local.map(({ backend }) => backend),
    hasAny: cluster.length > 0 || local.length > 0,
    readyLocalAddresses: ready.flatMap(({ backend }) => (backend.isLocal ? [backend.address] : [])),
  };
}

export interface Backend {
  /** Canonical text. */
  readonly address: string;
  readonly port: number;
  readonly isLocal: boolean;
}

export interface BackendChoice {
  readonly cluster: readonly Backend[];
  readonly local: readonly Backend[];
  /** Whether any policy finds a backend: without one traffic is refused at once instead of dropped. */
  readonly hasAny: boolean;
  readonly readyLocalAddresses: readonly string[];
}

interface Candidate {
  readonly backend: Backend;
  readonly isReady: boolean;
  readonly isServingWhileTerminating: boolean;
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

/** In order of address and port, each once: an endpoint may stand in two slices while it moves between them. */
function candidatesOf(
  slices: readonly DeepReadonly<EndpointSlice>[],
  port: DeepReadonly<ServicePort>,
  family: IpFamily,
  nodeName: string,
): readonly Candidate[] {
  const found = new Map<string, Candidate>();
  for (const slice of slices) {
    if (slice.addressType !== family) continue;
    const number = slice.ports?.find(
      (candidate) => (candidate.name ?? "") === (port.name ?? "") && (candidate.protocol ?? "TCP") === (port.protocol ?? "TCP"),
    )?.port;
    if (number === undefined || number === 0) continue;
    for (const endpoint of slice.endpoints ?? []) {
      const candidate = candidateOf(endpoint, number, nodeName);
      if (candidate === undefined) continue;
      const key = `${candidate.backend.address} ${number}`;
      if (found.get(key)?.isReady !== true) found.set(key, candidate);
    }
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, candidate]) => candidate);
}

/** Only the first address counts (API field `endpoints[].addresses`). */
function candidateOf(endpoint: DeepReadonly<Endpoint>, port: number, nodeName: string): Candidate | undefined {
  const address = parseIp(endpoint.addresses?.[0] ?? "", true);
  if (address === undefined) return undefined;
  const { ready = true, serving = true, terminating = false } = endpoint.conditions ?? {};
  return {
    backend: { address: ipText(address), port, isLocal: endpoint.nodeName === nodeName },
    isReady: ready,
    isServingWhileTerminating: serving && terminating,
    zones: endpoint.hints?.forZones?.map(({ name }) => name) ?? [],
    nodes: endpoint.hints?.forNodes?.map(({ name }) => name) ?? [],
  };
}

function withFallback(candidates: readonly Candidate[]): readonly Candidate[] {
  const ready = candidates.filter(({ isReady }) => isReady);
  return ready.length > 0 ? ready : candidates.filter(({ isServingWhileTerminating }) => isServingWhileTerminating);
}

/** The narrowest of node, zone and cluster for which every endpoint is hinted and one is near. */
function nearest(ready: readonly Candidate[], { nodeName, zone }: { readonly nodeName: string; readonly zone?: string }): readonly Candidate[] {
  const onNode = ready.filter(({ nodes }) => nodes.includes(nodeName));
  if (onNode.length > 0 && ready.every(({ nodes }) => nodes.length > 0)) return onNode;
  const inZone = zone === undefined ? [] : ready.filter(({ zones }) => zones.includes(zone));
  if (inZone.length > 0 && ready.every(({ zones }) => zones.length > 0)) return inZone;
  return ready;
}
