import { readyStatus, zoneKey } from "../nodes/node-conditions.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";

/**
 * - normal: pods are moved away at the usual rate
 * - partial: more than a threshold of the zone's nodes are not ready; slower, or not at all in small zones
 * - full: none of the zone's nodes is ready
 */
export type ZoneState = "normal" | "partial" | "full";

export interface EvictionSettings {
  /** Nodes per second that pods are moved away from. */
  readonly rate: number;
  /** The same in a zone that is partly down, if it is large. */
  readonly secondaryRate: number;
  /** Nodes from which on a zone is large. */
  readonly largeZoneSize: number;
  /** Fraction of nodes not ready from which on a zone is partly down. */
  readonly unhealthyThreshold: number;
}

/** The zones of all nodes and how they are. */
export function zoneStates(nodes: readonly DeepReadonly<Node>[], settings: EvictionSettings): Map<string, { state: ZoneState; size: number }> {
  const counts = new Map<string, { ready: number; size: number }>();
  for (const node of nodes) {
    const zone = counts.get(zoneKey(node)) ?? { ready: 0, size: 0 };
    zone.size += 1;
    if (readyStatus(node) === "True") zone.ready += 1;
    counts.set(zoneKey(node), zone);
  }
  return new Map([...counts].map(([key, { ready, size }]) => [key, { size, state: stateOf(ready, size - ready, settings) }]));
}

/** How many nodes per second pods are moved away from in a zone; 0 is none. When every zone is down, the fault is likely ours: nowhere. */
export function evictionRate({ state, size }: { state: ZoneState; size: number }, settings: EvictionSettings): number {
  if (state !== "partial") return settings.rate;
  return size > settings.largeZoneSize ? settings.secondaryRate : 0;
}

function stateOf(ready: number, notReady: number, { unhealthyThreshold }: EvictionSettings): ZoneState {
  if (ready === 0 && notReady > 0) return "full";
  return notReady > 2 && notReady / (notReady + ready) >= unhealthyThreshold ? "partial" : "normal";
}
