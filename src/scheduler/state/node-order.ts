import type { NodeInfo } from "./node-info.ts";

/** The nodes one zone after the other, so that looking at a part of them spreads over the zones. Nodes of a zone keep their order. */
export function orderByZone(nodes: readonly NodeInfo[]): NodeInfo[] {
  const zones = [...Map.groupBy(nodes, ({ labels }) => zoneOf(labels)).values()];
  if (zones.length === 1) return zones[0]!;
  const ordered: NodeInfo[] = [];
  for (let round = 0; ordered.length < nodes.length; round++) for (const zone of zones) if (round < zone.length) ordered.push(zone[round]!);
  return ordered;
}

/** Region and zone as one key; `""` when the node has neither. The old labels count where the new ones are missing. */
export function zoneOf(labels: Readonly<Record<string, string>>): string {
  const zone = labels["topology.kubernetes.io/zone"] ?? labels["failure-domain.beta.kubernetes.io/zone"] ?? "";
  const region = labels["topology.kubernetes.io/region"] ?? labels["failure-domain.beta.kubernetes.io/region"] ?? "";
  return zone === "" && region === "" ? "" : `${region}:\u0000:${zone}`;
}
