import type { Plugin } from "../../framework/plugin.ts";

export const topologyPlugin = "TopologyPlacementGenerator";

/** The pods of a group are kept to the nodes of one topology domain (KEP-5732); the group's attempt puts the filter in. Nodes may make a domain. */
export const topologyPlacement: Plugin = { name: topologyPlugin, events: [{ resource: "Node", actions: ["Add", "UpdateNodeLabel"] }] };

/** Placements that more of a group's pods fit in are better. */
export const podGroupPodsCount: Plugin = { name: "PodGroupPodsCount", placementScore: (_cycle, { pods }) => pods };
