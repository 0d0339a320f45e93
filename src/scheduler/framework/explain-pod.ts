import { isRefusal } from "./refusal.ts";
import { refuse } from "./find-feasible-nodes.ts";
import { scoreNodes } from "./score-nodes.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { NamedFilter, Scores } from "./decision.ts";
import type { Cycle } from "./plugin.ts";
import type { Profile } from "./profile.ts";
import type { Refusal } from "./refusal.ts";

/** What every plugin has to say about every node for a pod, were it decided now: not only the first refusal, and no node left out. */
export function explainPod(snapshot: Snapshot, pod: PodInfo, profile: Profile): Explanation {
  const cycle: Cycle = { pod, snapshot, state: new Map() };
  const filters: NamedFilter[] = [];
  const refusedByAll: Refusal[] = [];
  for (const { name: plugin, preFilter } of profile.plugins) {
    const answer = preFilter?.(cycle) ?? "skip";
    if (answer === "skip") continue;
    if (isRefusal(answer)) refusedByAll.push({ ...answer, plugin });
    else filters.push({ plugin, filter: answer });
  }
  const nodes = snapshot.nodes.map((node) => ({ node, refusals: refusalsOf(node, filters) }));
  const feasible = refusedByAll.length > 0 ? [] : nodes.filter(({ refusals }) => refusals.length === 0).map(({ node }) => node);
  const scores = scoreNodes({ cycle, profile, nodes: feasible, positions: undefined, verdicts: undefined });
  return { refusedByAll, nodes, scores };
}

export interface Explanation {
  /** By plugins that see no way on any node. */
  readonly refusedByAll: readonly Refusal[];
  readonly nodes: readonly { readonly node: NodeInfo; readonly refusals: readonly Refusal[] }[];
  /** Of the nodes that nobody refused. */
  readonly scores: Scores;
}

function refusalsOf(node: NodeInfo, filters: readonly NamedFilter[]): readonly Refusal[] {
  return filters.flatMap((one) => {
    if (one.filter.nodeNames?.has(node.name) === false) return [{ code: "unresolvable" as const, reasons: ["excluded"], plugin: one.plugin }];
    return refuse(node, [one]) ?? [];
  });
}
