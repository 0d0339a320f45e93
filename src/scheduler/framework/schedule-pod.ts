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
import type { Assigned, Decision, Diagnosis, NamedFilter, Scores, Unschedulable } from "./decision.ts";
import type { FeasibleNodes } from "./find-feasible-nodes.ts";
import type { Cycle, PostFilterResult } from "./plugin.ts";
import type { Profile } from "./profile.ts";
import type { NodeRefusals } from "./node-refusals.ts";
import type { NodeVerdicts, VerdictCache } from "./verdict-cache.ts";

/**
 * Decides where a pod goes: filters nodes, scores those that are left and takes the best, by lot among equals; or says for every node why
 * not, and what the PostFilter plugins can do about it. Pure but for `random`. `startIndex` is the node to begin at: not all nodes are
 * looked at in large clusters, and each pod goes on where the last one stopped.
 */
export function schedulePod(request: SchedulingRequest): Outcome {
  const search = searchNodes(request);
  return { cycle: search.cycle, decision: search.kind === "ended" ? search.decision : chooseNode(search) };
}

export interface Outcome {
  readonly decision: Decision;
  readonly cycle: Cycle;
}

/** Filters the nodes. Ends here when none is left, or in an error. */
export function searchNodes(request: SchedulingRequest): Search {
  const { snapshot, pod, profile } = request;
  const cycle: Cycle = { pod, snapshot, state: new Map() };
  const nodes = snapshot.nodes.length;
  const decided = { pod, nodes, refusals: noRefusals, examined: 0 };
  const failed = (message: string, more = {}): Search => ({ kind: "ended", cycle, decision: { ...decided, ...more, kind: "failed", message } });
  if (nodes === 0) {
    const nobody = { rejectors: noNames, pendingPlugins: noNames, postFilter: undefined };
    return { kind: "ended", cycle, decision: { ...decided, ...nobody, kind: "unschedulable", message: noNodesMessage } };
  }
  const prepared = prepareFilters(cycle, profile.plugins);
  if (prepared.kind === "refused") {
    if (prepared.refusal.code === "failed") return failed(prepared.refusal.reasons.join(", "));
    const diagnosis: Diagnosis = { refusals: noRefusals, refusedByAll: prepared.refusal, filters: [] };
    return { kind: "ended", cycle, decision: unschedulable(cycle, profile, { ...decided, diagnosis }), diagnosis };
  }
  const { filters, nodeNames, narrowing } = prepared;
  const verdicts = request.cache?.of(pod);
  const found = findFeasibleNodes({ ...request, cycle, filters, nodeNames, narrowing, verdicts });
  const { refusals, examined } = found;
  if (found.failure !== undefined) return failed(found.failure, { refusals, examined });
  if (found.nodes.length === 0) {
    const diagnosis: Diagnosis = { refusals, refusedByAll: undefined, filters, verdicts };
    return { kind: "ended", cycle, decision: unschedulable(cycle, profile, { ...decided, refusals, examined, diagnosis }), diagnosis };
  }
  const { nodes: feasible, positions } = found;
  return { kind: "found", cycle, request, filters, verdicts, nodes: feasible, positions, refusals, examined };
}

/** Nodes that can take the pod, before they are scored; or what was decided because there are none. */
export type Search =
  | FoundNodes
  | {
      readonly kind: "ended";
      readonly cycle: Cycle;
      readonly decision: Decision;
      /** What PostFilter plugins were told. */
      readonly diagnosis?: Diagnosis;
    };

export interface FoundNodes extends Omit<FeasibleNodes, "failure"> {
  readonly kind: "found";
  readonly cycle: Cycle;
  readonly request: SchedulingRequest;
  readonly filters: readonly NamedFilter[];
  readonly verdicts: NodeVerdicts | undefined;
}

/** Scores the nodes and takes the best. `more` are points from elsewhere, by the nodes' positions. */
export function chooseNode(found: FoundNodes, more?: readonly { readonly name: string; readonly points: readonly number[] }[]): Assigned {
  const { cycle, request, nodes, positions, refusals, examined, verdicts } = found;
  const { profile, random, snapshot, pod } = request;
  let scores = nodes.length === 1 ? noScores : scoreNodes({ cycle, profile, nodes, positions, verdicts });
  if (more !== undefined && nodes.length > 1) scores = withPoints(scores, more);
  const node = nodes.length === 1 ? nodes[0]! : best(scores, random);
  return { kind: "assigned", pod, nodes: snapshot.nodes.length, refusals, examined, node, scores };
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

/** Says why no node can take the pod, after the PostFilter plugins had their say. */
export function unschedulable(
  cycle: Cycle,
  profile: Profile,
  found: { nodes: number; refusals: NodeRefusals; examined: number; diagnosis: Diagnosis },
): Unschedulable {
  const { nodes, refusals, examined, diagnosis } = found;
  const { refusedByAll } = diagnosis;
  const postFilter = runPostFilters(cycle, profile, diagnosis);
  const text = refusedByAll === undefined ? failureMessage(nodes, refusals.counts()) : refusedByAllMessage(nodes, refusedByAll);
  const rejectors = new Set<string>();
  const pendingPlugins = new Set<string>();
  for (const { plugin, code } of refusedByAll === undefined ? refusals.counts().keys() : [refusedByAll])
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

function withPoints({ nodes, plugins, values, totals }: Scores, more: readonly { readonly name: string; readonly points: readonly number[] }[]): Scores {
  return {
    nodes,
    plugins: [...plugins, ...more.map(({ name }) => name)],
    values: [...values, ...more.map(({ points }) => points)],
    totals: totals.map((total, index) => more.reduce((sum, { points }) => sum + points[index]!, total)),
  };
}

/** One of the nodes with the highest total, each with the same chance. */
function best({ nodes, totals }: Scores, random: Random): Scores["nodes"][number] {
  let highest = Number.NEGATIVE_INFINITY;
  let equals = 0;
  for (let index = 0; index < totals.length; index++) {
    const total = totals[index]!;
    if (total > highest) {
      highest = total;
      equals = 1;
    } else if (total === highest) equals += 1;
  }
  let skipped = equals === 1 ? 0 : random.integer(equals);
  for (let index = 0; index < totals.length; index++) if (totals[index] === highest && skipped-- === 0) return nodes[index]!;
  invariant(false, "one of the nodes has the highest total");
}
