import { invariant } from "../../base/invariant.ts";
import { noScores } from "./decision.ts";
import { failureMessage, noNodesMessage, refusedByAllMessage } from "./failure-message.ts";
import { findFeasibleNodes } from "./find-feasible-nodes.ts";
import { noRefusals } from "./node-refusals.ts";
import { prepareFilters } from "./prepare-filters.ts";
import { scoreNodes } from "./score-nodes.ts";
import type { Random } from "../../base/random.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { Decision, Diagnosis, Scores } from "./decision.ts";
import type { Cycle, PostFilterResult } from "./plugin.ts";
import type { Profile } from "./profile.ts";
import type { NodeRefusals } from "./node-refusals.ts";
import type { VerdictCache } from "./verdict-cache.ts";

/**
 * Decides where a pod goes: filters nodes, scores those that are left and takes the best, by lot among equals; or says for every node why
 * not, and what the PostFilter plugins can do about it. Pure but for `random`. `startIndex` is the node to begin at: not all nodes are
 * looked at in large clusters, and each pod goes on where the last one stopped.
 */
export function schedulePod(request: SchedulingRequest): { readonly decision: Decision; readonly cycle: Cycle } {
  const { snapshot, pod, profile } = request;
  const cycle: Cycle = { pod, snapshot, state: new Map() };
  const nodes = snapshot.nodes.length;
  const decided = { pod, nodes, refusals: noRefusals, examined: 0 };
  if (nodes === 0) {
    const decision: Decision = {
      ...decided,
      kind: "unschedulable",
      message: noNodesMessage,
      rejectors: noNames,
      pendingPlugins: noNames,
      postFilter: undefined,
    };
    return { decision, cycle };
  }
  const prepared = prepareFilters(cycle, profile.plugins);
  if (prepared.kind === "refused") {
    if (prepared.refusal.code === "failed") return { decision: { ...decided, kind: "failed", message: prepared.refusal.reasons.join(", ") }, cycle };
    const diagnosis: Diagnosis = { refusals: noRefusals, refusedByAll: prepared.refusal, filters: [] };
    return { decision: unschedulable(cycle, profile, { ...decided, diagnosis }), cycle };
  }
  const { filters, nodeNames, narrowing } = prepared;
  const verdicts = request.cache?.of(pod);
  const found = findFeasibleNodes({ ...request, cycle, filters, nodeNames, narrowing, verdicts });
  const { refusals, examined } = found;
  if (found.failure !== undefined) return { decision: { ...decided, refusals, examined, kind: "failed", message: found.failure }, cycle };
  if (found.nodes.length === 0) {
    const diagnosis: Diagnosis = { refusals, refusedByAll: undefined, filters };
    return { decision: unschedulable(cycle, profile, { ...decided, refusals, examined, diagnosis }), cycle };
  }
  const scores = found.nodes.length === 1 ? noScores : scoreNodes({ cycle, profile, nodes: found.nodes, positions: found.positions, verdicts });
  const node = found.nodes.length === 1 ? found.nodes[0]! : best(scores, request.random);
  return { decision: { ...decided, refusals, examined, kind: "assigned", node, scores }, cycle };
}

export interface SchedulingRequest {
  readonly snapshot: Snapshot;
  readonly pod: PodInfo;
  readonly profile: Profile;
  readonly random: Random;
  readonly startIndex: number;
  /** What is known from pods of the same templates; one for each profile. */
  readonly cache?: VerdictCache | undefined;
  /** Look at all nodes, however large the cluster is. */
  readonly isExhaustive?: boolean;
}

const noNames: ReadonlySet<string> = new Set();

function unschedulable(cycle: Cycle, profile: Profile, found: { nodes: number; refusals: NodeRefusals; examined: number; diagnosis: Diagnosis }): Decision {
  const { nodes, refusals, examined, diagnosis } = found;
  const { refusedByAll } = diagnosis;
  const postFilter = runPostFilters(cycle, profile, diagnosis);
  const text = refusedByAll === undefined ? failureMessage(nodes, refusals.values()) : refusedByAllMessage(nodes, refusedByAll);
  const rejectors = new Set<string>();
  const pendingPlugins = new Set<string>();
  for (const { plugin, code } of refusedByAll === undefined ? refusals.values() : [refusedByAll])
    if (plugin !== undefined) (code === "pending" ? pendingPlugins : rejectors).add(plugin);
  const message = postFilter === undefined || postFilter.message === "" ? text : `${text} ${postFilter.message}`;
  return { kind: "unschedulable", pod: cycle.pod, nodes, refusals, examined, message, rejectors, pendingPlugins, postFilter };
}

function runPostFilters(cycle: Cycle, profile: Profile, diagnosis: Diagnosis): PostFilterResult | undefined {
  let merged: PostFilterResult | undefined;
  for (const plugin of profile.plugins) {
    const result = plugin.postFilter?.(cycle, diagnosis);
    if (result === undefined) continue;
    const messages = [merged?.message ?? "", result.message].filter((text) => text !== "");
    merged = { ...merged, ...result, message: messages.join(", ") };
    if (result.isFinal === true || (result.nominatedNodeName !== undefined && result.nominatedNodeName !== "")) break;
  }
  return merged;
}

/** One of the nodes with the highest total, each with the same chance. */
function best({ nodes, totals }: Scores, random: Random): Scores["nodes"][number] {
  let highest = Number.NEGATIVE_INFINITY;
  let equals = 0;
  for (const total of totals) {
    if (total > highest) {
      highest = total;
      equals = 1;
    } else if (total === highest) equals += 1;
  }
  let skipped = equals === 1 ? 0 : random.integer(equals);
  for (const [index, total] of totals.entries()) if (total === highest && skipped-- === 0) return nodes[index]!;
  invariant(false, "one of the nodes has the highest total");
}
