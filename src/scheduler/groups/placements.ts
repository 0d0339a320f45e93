import { topologyPlugin } from "../plugins/queue/topology-placement.ts";
import type { Cycle, Plugin } from "../framework/plugin.ts";
import type { Profile } from "../framework/profile.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { SchedulingGroup } from "../state/pod-groups.ts";

/** Nodes that all pods of a group are to be on. */
export interface Placement {
  /** The value of the topology's label. */
  readonly domain: string;
  readonly nodeNames: ReadonlySet<string>;
}

/** What became of a group in a placement: its nodes with the pods on them, and how many of the group's pods have a node there. */
export interface PlacementResult {
  readonly nodes: readonly NodeInfo[];
  readonly pods: number;
}

/**
 * The placements that come into question, the first domain in the order of names first; `[undefined]` when the group may go anywhere.
 * Where some of the group run already, the others follow them.
 */
export function placementsOf({ topologyKey: key, members }: SchedulingGroup, state: ClusterState): readonly (Placement | undefined)[] {
  if (key === undefined) return [undefined];
  const domains = new Map<string, Set<string>>();
  for (const { name, labels } of state.nodes) {
    const domain = labels[key];
    if (domain === undefined) continue;
    const known = domains.get(domain);
    if (known === undefined) domains.set(domain, new Set([name]));
    else known.add(name);
  }
  const taken = members.keys().map((uid) => state.node(state.nodeOf(uid) ?? "")?.labels[key]);
  const settled = taken.find((domain) => domain !== undefined);
  const names = settled === undefined ? [...domains.keys()].sort() : [settled];
  return names.map((domain) => ({ domain, nodeNames: domains.get(domain)! }));
}

const within = new WeakMap<Placement, Plugin>();

/** The profile with only the placement's nodes. */
export function profileWithin(profile: Profile, placement: Placement | undefined): Profile {
  if (placement === undefined) return profile;
  let plugin = within.get(placement);
  if (plugin === undefined) {
    const { nodeNames } = placement;
    within.set(placement, (plugin = { name: topologyPlugin, preFilter: () => ({ nodeNames, refuse: () => undefined }) }));
  }
  return { ...profile, plugins: [...profile.plugins.filter(({ name }) => name !== topologyPlugin), plugin] };
}

/** The best of the results by the plugins that score placements, each brought to 100 by the highest; the first of equals. */
export function bestPlacement(cycle: Pick<Cycle, "snapshot">, profile: Profile, results: readonly PlacementResult[]): number {
  const totals = results.map(() => 0);
  for (const plugin of profile.plugins) {
    if (plugin.placementScore === undefined) continue;
    const scores = results.map((result) => plugin.placementScore!(cycle, result));
    const highest = Math.max(...scores);
    const weight = profile.placementWeights?.get(plugin.name) ?? 1;
    for (const [index, score] of scores.entries()) totals[index]! += highest === 0 ? 0 : Math.trunc((100 * score) / highest) * weight;
  }
  return totals.indexOf(Math.max(...totals));
}
