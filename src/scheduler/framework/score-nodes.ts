import type { NodeInfo } from "../state/node-info.ts";
import type { Scores } from "./decision.ts";
import type { Cycle } from "./plugin.ts";
import type { Profile } from "./profile.ts";

/** Scores the feasible nodes by every plugin that has something to say, normalized and weighted. */
export function scoreNodes(cycle: Cycle, profile: Profile, nodes: readonly NodeInfo[]): Scores {
  const plugins: string[] = [];
  const values: number[][] = [];
  const totals = nodes.map(() => 0);
  for (const plugin of profile.plugins) {
    const scorer = plugin.preScore?.(cycle, nodes) ?? "skip";
    if (scorer === "skip") continue;
    const scores: number[] = [];
    for (let index = 0; index < nodes.length; index++) scores.push(scorer.score(nodes[index]!));
    scorer.normalize?.(scores, nodes);
    const weight = profile.weights.get(plugin.name) ?? 1;
    for (let index = 0; index < nodes.length; index++) totals[index]! += scores[index]! *= weight;
    plugins.push(plugin.name);
    values.push(scores);
  }
  return { nodes, plugins, values, totals };
}

/** Brings scores to 0…100 by the highest of them; `isReversed`: the highest becomes 0. All zeros stay, or become 100. */
export function normalizeByHighest(scores: number[], isReversed = false): void {
  let highest = 0;
  for (const score of scores) if (score > highest) highest = score;
  for (let index = 0; index < scores.length; index++) {
    const share = highest === 0 ? 0 : Math.trunc((100 * scores[index]!) / highest);
    scores[index] = isReversed ? 100 - share : share;
  }
}
