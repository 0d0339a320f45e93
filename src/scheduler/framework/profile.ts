import { invariant } from "../../base/invariant.ts";
import type { Plugin } from "./plugin.ts";

/** The plugins that schedule for one scheduler name, in order. */
export interface Profile {
  readonly schedulerName: string;
  readonly plugins: readonly Plugin[];
  /** By plugin name, for those that score; 1 when absent. */
  readonly weights: ReadonlyMap<string, number>;
  /** As `weights`, for plugins that score placements of groups. */
  readonly placementWeights?: ReadonlyMap<string, number>;
  readonly percentageOfNodesToScore: number;
}

export function queueSortOf(profile: Profile): NonNullable<Plugin["compare"]> {
  const plugin = profile.plugins.find(({ compare }) => compare !== undefined);
  invariant(plugin?.compare !== undefined, `profile ${profile.schedulerName} sorts its queue`);
  return (left, right) => plugin.compare!(left, right);
}
