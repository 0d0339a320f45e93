import type { NodeInfo } from "../state/node-info.ts";
import type { Positions } from "./find-feasible-nodes.ts";
import type { Scores } from "./decision.ts";
import type { Cycle, NodeScorer } from "./plugin.ts";
import type { Profile } from "./profile.ts";
import type { NodeVerdicts } from "./verdict-cache.ts";

/** Scores the feasible nodes by every plugin that has something to say, normalized and weighted. */
export function scoreNodes(request: ScoreRequest): Scores {
  const { cycle, profile, nodes } = request;
  const plugins: string[] = [];
  const values: number[][] = [];
  const totals = nodes.map(() => 0);
  for (const plugin of profile.plugins) {
    const scorer = plugin.preScore?.(cycle, nodes) ?? "skip";
    if (scorer === "skip") continue;
    const scores = rawScores(plugin.name, scorer, request);
    scorer.normalize?.(scores, nodes);
    const weight = profile.weights.get(plugin.name) ?? 1;
    for (let index = 0; index < nodes.length; index++) totals[index]! += scores[index]! *= weight;
    plugins.push(plugin.name);
    values.push(scores);
  }
  return { nodes, plugins, values, totals };
}

export interface ScoreRequest {
  readonly cycle: Cycle;
  readonly profile: Profile;
  readonly nodes: readonly NodeInfo[];
  /** Where the nodes are in the snapshot. */
  readonly positions: Positions | undefined;
  readonly verdicts: NodeVerdicts | undefined;
}

/** The scores before they are normalized; local ones are not worked out again for a node that has not changed. */
function rawScores(plugin: string, scorer: NodeScorer, { nodes, positions, verdicts }: ScoreRequest): number[] {
  if (scorer.isLocal !== true || positions === undefined || verdicts === undefined) return nodes.map((node) => scorer.score(node));
  let known = verdicts.scored.get(plugin);
  if (known === undefined) verdicts.scored.set(plugin, (known = { nodes: [], scores: [] }));
  const memory = known;
  return nodes.map((node, index) => {
    const position = positions[index]!;
    if (memory.nodes[position] === node) return memory.scores[position]!;
    memory.nodes[position] = node;
    return (memory.scores[position] = scorer.score(node));
  });
}

/** Brings scores to 0…100 by the highest of them; `isReversed`: the highest becomes 0. All zeros stay, or become 100. */
export function normalizeByHighest(scores: number[], isReversed = false): void {
  let highest = 0;
  for (let index = 0; index < scores.length; index++) if (scores[index]! > highest) highest = scores[index]!;
  for (let index = 0; index < scores.length; index++) {
    const share = highest === 0 ? 0 : Math.trunc((100 * scores[index]!) / highest);
    scores[index] = isReversed ? 100 - share : share;
  }
}
